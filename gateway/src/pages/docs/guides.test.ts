// The guides as HTML: what Markdown may do, and where links lead.
import { guideText, guideTitle, markdownHtml } from './guides.ts';
import { GUIDES } from './paths.ts';

test('HTML in Markdown stays text, and so does code', () => {
  const page = markdownHtml('<img src=x onerror=alert(1)> a <b>c</b>\n\n```js\n<script>\n```\n');
  expect(page).not.toMatch(/<(img|b|script)\b/);
  expect(page).toContain('&lt;b&gt;c&lt;/b&gt;');
  expect(page).toContain('aria-label="Example, js"');
});

test('links lead to guides, their examples and the service; those to other files, or to scripts, are text', () => {
  const hrefOf = (target: string) => /href="([^"]*)"/.exec(markdownHtml(`[x](${target})`))?.[1];
  expect(hrefOf('errors-and-retries.md#how-to-try-again')).toBe(
    '/docs/guides/errors-and-retries#how-to-try-again',
  );
  expect(hrefOf('../../examples/node/signin.web.mjs')).toBe('/docs/guides/signin.web.mjs');
  for (const kept of ['/docs#errors', '#here', 'https://example.com/a'])
    expect(hrefOf(kept)).toBe(kept);
  for (const dropped of [
    '../api.md#errors',
    'nothing.md',
    '../../examples/node/api.mjs',
    'javascript:alert(1)',
    'data:text/html,x',
  ])
    expect(hrefOf(dropped)).toBeUndefined();
});

test('a guide without a file fails loudly', () => {
  expect(() => guideTitle('nothing')).toThrow('nothing.md');
});

test('guides and their examples name the service that serves them', () => {
  for (const name of GUIDES)
    expect(guideText(name, 'https://api.example')).not.toContain('localhost:4000');
  expect(guideText('check-in', 'https://api.example')).toContain('=https://api.example/graphql');
});
