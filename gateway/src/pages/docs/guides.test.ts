// The guides as HTML: what Markdown may do, and where links lead.
import { guideTitle, markdownHtml } from './guides.ts';

test('HTML in Markdown stays text, and so does code', () => {
  const page = markdownHtml('<img src=x onerror=alert(1)> a <b>c</b>\n\n```js\n<script>\n```\n');
  expect(page).not.toMatch(/<(img|b|script)\b/);
  expect(page).toContain('&lt;b&gt;c&lt;/b&gt;');
  expect(page).toContain('aria-label="Example, js"');
});

test('links lead to guides and to the service; those to other files, or to scripts, are text', () => {
  const hrefOf = (target: string) => /href="([^"]*)"/.exec(markdownHtml(`[x](${target})`))?.[1];
  expect(hrefOf('errors-and-retries.md#how-to-try-again')).toBe(
    '/docs/guides/errors-and-retries#how-to-try-again',
  );
  for (const kept of ['/docs#errors', '#here', 'https://example.com/a'])
    expect(hrefOf(kept)).toBe(kept);
  for (const dropped of [
    '../api.md#errors',
    'nothing.md',
    'javascript:alert(1)',
    'data:text/html,x',
  ])
    expect(hrefOf(dropped)).toBeUndefined();
});

test('a guide without a file fails loudly', () => {
  expect(() => guideTitle('nothing')).toThrow('nothing.md');
});
