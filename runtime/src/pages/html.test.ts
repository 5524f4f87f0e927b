// What a page makes of names that would alter the text around them.
import { isolated } from '../input.ts';
import { html, sentence } from './html.ts';

test('a stored name is shown without what alters the text around it', () => {
  expect(html`<p>${'<A\u202eb\u200bc\nd\u2028e\u00adf>'}</p>`.html).toBe(
    '<p>&lt;Abc\nde\u00adf&gt;</p>',
  );
});

test('a name in a sentence is isolated, escaped, and ends where it ends', () => {
  const name = 'Inn\u2069 & \u2068Sons\u202e';
  expect(sentence(`${isolated(name)} belongs to ${isolated('B')}.`).html).toBe(
    '<bdi>Inn &amp; Sons</bdi> belongs to <bdi>B</bdi>.',
  );
});
