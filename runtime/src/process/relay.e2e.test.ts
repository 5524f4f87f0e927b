// Questions of workers to their primary, between real processes.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../../test/support/folder.ts';

const RELAY = JSON.stringify(join(import.meta.dirname, 'relay.ts'));

/** Two workers ask two relays, 100 times in one tick and once later; then the channel is closed. */
const CLUSTER = `
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createRelay, serveRelay } from ${RELAY};

if (cluster.isPrimary) {
  let messages = 0;
  let counted = 0;
  const replies = [];
  cluster.on('message', (_worker, message) => {
    if (message.reply === undefined) messages += 1;
    else replies.push(message.reply);
  });
  await serveRelay('double', (number) => number * 2);
  await serveRelay('count', async () => ++counted);
  await Promise.all([cluster.fork(), cluster.fork()].map((worker) => once(worker, 'exit')));
  console.log(JSON.stringify({ messages, counted, replies }));
} else {
  const double = createRelay('double');
  const count = createRelay('count');
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const inOneTick = numbers.map((number) => Promise.resolve().then(() => double(number)));
  const counts = numbers.map(count);
  const doubled = await Promise.all(inOneTick);
  const areOwn = numbers.every((number, index) => doubled[index] === number * 2);
  const areOnce = new Set(await Promise.all(counts)).size === 100;
  const later = await double(21);
  process.send({ reply: { areOwn, areOnce, later } }, async () => {
    process.disconnect();
    await double(1).then(() => process.exit(1), () => process.exit(0));
  });
}
`;

test('the questions of a tick are one message, and each gets its own answer', async () => {
  const folder = temporaryFolder();
  const script = join(folder.path, 'relay.mts');
  writeFileSync(script, CLUSTER);
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script], {
    timeout: 90_000,
  });
  const reply = { areOwn: true, areOnce: true, later: 42 };
  expect(JSON.parse(stdout)).toEqual({ messages: 6, counted: 200, replies: [reply, reply] });
  folder.remove();
});
