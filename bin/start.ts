// Runs the gateway and its subgraphs in one process: `npm start`.
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { outputToStdout } from '@partner-loyalty/runtime/observe/output.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { startService } from './demo/service.ts';

const settings = settingsOrExit('all');
const log = createLog(settings.logLevel);

const start: Parameters<typeof runProcess>[1] = async (lifecycle) => {
  const { banner } = await startService(settings, { lifecycle, log });
  // Its reader may go away, such as `head`; the service stays.
  outputToStdout().write(banner);
  outputToStdout().flush();
};

await runProcess(log, start, settings);
