// Steps that run together after the poll phase, one of which throws.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const PROGRAM = `
import { afterPoll } from ${JSON.stringify(join(import.meta.dirname, 'afterpoll.ts'))};
process.on('uncaughtException', (error) => console.log('uncaught', error.message));
afterPoll(() => console.log('first'));
afterPoll(() => { throw new Error('second'); });
afterPoll(() => afterPoll(() => console.log('of the second turn')));
afterPoll(() => console.log('last'));
console.log('now');
`;

test('a step that throws does not stop the others', () => {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM];
  const lines = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n');
  expect(lines.slice(0, 2)).toEqual(['now', 'first']);
  expect(lines.slice(2).sort()).toEqual(['last', 'of the second turn', 'uncaught second']);
});
