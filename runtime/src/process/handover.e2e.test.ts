// A connection that the primary has offered to a worker which dies, on Node's own cluster.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '../../../test/support/until.ts';

const PROGRAM = `
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { declineWhenDead } from ${JSON.stringify(join(import.meta.dirname, 'handover.ts'))};
if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()];
  for (const worker of workers)
    declineWhenDead(worker, () => workers.some((other) => other !== worker));
  let port;
  cluster.on('listening', (_, address) => {
    if (port !== undefined) console.log(JSON.stringify({ port, pids: workers.map((each) => each.process.pid) }));
    port = address.port;
  });
} else {
  createServer((_, response) => response.end(String(process.pid))).listen(0, '127.0.0.1');
}
`;

test('another worker answers a connection that was offered to a worker that dies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'handover-'));
  writeFileSync(join(folder, 'program.mts'), PROGRAM);
  const primary = spawn(process.execPath, ['--import', 'tsx', join(folder, 'program.mts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // A process group of its own, to kill all of it.
  });
  try {
    const [line] = await once(primary.stdout, 'data');
    const { port, pids } = JSON.parse(String(line));
    const [frozen, other] = pids;
    // A stopped worker never takes the connection that it is offered.
    process.kill(frozen, 'SIGSTOP');
    const answers: string[] = [];
    const calls = Array.from({ length: 4 }, async () => answers.push(await call(port)));
    await until(() => answers.length === 3);
    process.kill(frozen, 'SIGKILL');
    await Promise.all(calls);
    expect(answers).toEqual(Array(4).fill(String(other)));
  } finally {
    if (primary.pid !== undefined) process.kill(-primary.pid, 'SIGKILL');
    rmSync(folder, { recursive: true });
  }
});

/** Sends a request over a connection of its own. */
async function call(port: number): Promise<string> {
  const [response] = await once(get({ host: '127.0.0.1', port, agent: false }), 'response');
  return text(response);
}
