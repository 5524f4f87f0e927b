// README.md says how fast the gateway is by the recorded results.
import { readFileSync } from 'node:fs';
import { README, renderReadme, withSpeed } from '../../bench/report/readme.ts';

test('README.md has the figures of the recorded results', () => {
  expect(readFileSync(README, 'utf8')).toBe(renderReadme());
});

test('the section goes between its markers, with the same result when repeated', () => {
  const text = 'before\n<!-- speed -->\nold\n<!-- end speed -->\nafter\n';
  const once = withSpeed(text, 'new\n');
  expect(once).toBe('before\n<!-- speed -->\n\nnew\n\n<!-- end speed -->\nafter\n');
  expect(withSpeed(once, 'new\n')).toBe(once);
});

test.each(['text\n<!-- speed -->\n', 'text\n<!-- end speed -->\n'])(
  'a text without a marker is refused: %j',
  (text) => {
    expect(() => withSpeed(text, '')).toThrow('there is no section between');
  },
);
