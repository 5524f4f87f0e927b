// Sections of a hand-written file can be generated without touching the rest.
import { withSections } from './generated.ts';

test('a section is put between its markers, and again with the same result', () => {
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
