// The pages of docs/callers as HTML: what Markdown may do, and where links lead.
import { markdownHtml, pageText, pageTitle } from './guides.ts';
import { PAGES } from './paths.ts';

test('HTML in Markdown stays text, and so does code', () => {
  const page = markdownHtml(
    '<img src=x onerror=alert(1)> a <b>c</b>\n\n```js\n<script>\n```\n',
    'keys',
  );
  expect(page).not.toMatch(/<(img|b|script)\b/);
  expect(page).toContain('&lt;b&gt;c&lt;/b&gt;');
  expect(page).toContain('aria-label="Example, js"');
});

test('links lead to pages, examples and the service; those to other files, or to scripts, are text', () => {
  const hrefOf = (target: string, page = 'guides/check-in') =>
    /href="([^"]*)"/.exec(markdownHtml(`[x](${target})`, page))?.[1];
  expect(hrefOf('errors-and-retries.md#how-to-try-again')).toBe(
    '/docs/guides/errors-and-retries#how-to-try-again',
  );
  expect(hrefOf('../keys.md#scopes')).toBe('/docs/keys#scopes');
  expect(hrefOf('guides/desk.md', 'keys')).toBe('/docs/guides/desk');
  expect(hrefOf('../../../examples/node/signin.web.mjs')).toBe('/docs/guides/signin.web.mjs');
  for (const kept of ['/docs#errors', '#here', 'https://example.com/a'])
    expect(hrefOf(kept)).toBe(kept);
  for (const dropped of [
    '../../operators/security.md',
    'nothing.md',
    'keys.md',
    '../../../examples/node/api.mjs',
    'javascript:alert(1)',
    'data:text/html,x',
  ])
    expect(hrefOf(dropped)).toBeUndefined();
});

test('a page without a file fails loudly', () => {
  expect(() => pageTitle('nothing')).toThrow('nothing.md');
});

test('pages and their examples name the service that serves them', () => {
  for (const page of PAGES)
    expect(pageText(page, 'https://api.example')).not.toContain('localhost:4000');
  expect(pageText('guides/check-in', 'https://api.example')).toContain(
    '=https://api.example/graphql',
  );
});
