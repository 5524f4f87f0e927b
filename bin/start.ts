// Runs the gateway and its subgraphs in one process: `npm start`.
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { startService } from './demo/service.ts';

const settings = settingsOrExit('all');
const log = createLog(settings.logLevel);

const start: Parameters<typeof runProcess>[1] = async (lifecycle) => {
  const { banner } = await startService(settings, { lifecycle, log });
  process.stdout.write(banner);
};

await runProcess(log, start, settings);
