// Sections of README.md are generated without changing the rest.
import { withSections } from './readme.ts';

test('a section goes between its markers, with the same result when repeated', () => {
  const text = 'before\n<!-- settings -->\nold\n<!-- end settings -->\nafter\n';
  const once = withSections(text, { settings: '| new |\n' });
  expect(once).toBe('before\n<!-- settings -->\n\n| new |\n\n<!-- end settings -->\nafter\n');
  expect(withSections(once, { settings: '| new |\n' })).toBe(once);
});

test('a section without markers is refused', () => {
  expect(() => withSections('text\n<!-- settings -->\n', { settings: '' })).toThrow(
    'there is no section between',
  );
});
