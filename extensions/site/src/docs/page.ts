// The layout of the documentation, the contents beside the text, and the pages of docs/callers.
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { type About, baseUrlOf, framed } from '../frame.ts';
import { markdownHtml, pageSections, pageText, pageTitle } from './guides.ts';
import {
  DOCS_PATH,
  GUIDE_PAGES,
  INDEX_PATH,
  LICENSES_PATH,
  LLMS_PATH,
  pagePath,
  SCRIPT_PATH,
  TEXT_START,
  TOPICS,
} from './paths.ts';

type DocsPage = {
  path: string;
  title: string;
  /** The items of the list of contents. */
  contents: Html;
  text: Html | Html[];
};

export function docsFramed(about: About, { path, title, contents, text }: DocsPage): string {
  const main = html`<nav class="contents" aria-label="Contents">
<div id="search" data-index="${INDEX_PATH}"></div>
<details><summary>Contents</summary>
<ul>${contents}</ul></details></nav>
${{ html: TEXT_START }}
${text}
<p class="soft end"><a href="${LLMS_PATH}">For assistants</a> · <a href="${LICENSES_PATH}">Licenses</a></p>
</div>`;
  return framed(about, {
    title: `${title} – Partner Loyalty API`,
    path,
    kind: 'docs',
    main,
    head: html`<script type="module" src="${SCRIPT_PATH}"></script>`,
  });
}

/** The guides and the topics in the contents of the page at this path. */
export function pagesContents(path: string): Html {
  return html`<li><a href="${DOCS_PATH}#guides">Guides</a>${pagesList(GUIDE_PAGES, path)}</li>
<li><a href="${DOCS_PATH}#topics">In detail</a>${pagesList(TOPICS, path)}</li>
`;
}

export function pagesList(pages: readonly string[], path?: string): Html {
  const links = pages.map((page) => {
    const to = pagePath(page);
    const current = to === path ? html` aria-current="page"` : '';
    return html`<li><a href="${to}"${current}>${pageTitle(page)}</a></li>`;
  });
  return html`<ul>${links}</ul>`;
}

export function callersPage(about: About, page: string): string {
  const links = pageSections(page).map(
    ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
  );
  return docsFramed(about, {
    path: pagePath(page),
    title: pageTitle(page),
    contents: html`${pagesContents(pagePath(page))}<li><a href="${DOCS_PATH}#partner">Reference</a></li>
<li><a href="#main">On this page</a><ul>${links}</ul></li>`,
    text: { html: markdownHtml(pageText(page, baseUrlOf(about)), page) },
  });
}
