// Runs the gateway as a separate process, which reaches the subgraphs over signed HTTP.
import { openKeyStore, openStore, serveGateway } from '@partner-loyalty/gateway';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { type Lifecycle, runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { openProcess } from '@partner-loyalty/runtime/process/open.ts';
import { gatewayExtensions } from './extensions/list.ts';

const settings = settingsOrExit('gateway');
const log = createLog(settings.logLevel);

await runProcess(log, start, settings);

async function start(lifecycle: Lifecycle): Promise<void> {
  const opened = await openProcess(settings, 'gateway', { lifecycle, log });
  const openKeys = () => openKeyStore({ ...settings, metrics: opened.metrics });
  const keyStore = await openStore('keys', openKeys, { lifecycle, log });
  const extensions = await gatewayExtensions();
  await serveGateway({ ...opened, keyStore, inProcess: {}, extensions });
}
