// The section of README.md is generated without changing the rest.
import { withSpeed } from './readme.ts';

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
