// The layout of the documentation, the contents beside the text, and the pages of the guides.
import { type About, baseUrlOf, framed } from '../frame.ts';
import { type Html, html } from '../html.ts';
import { guideSections, guideText, guideTitle, markdownHtml } from './guides.ts';
import {
  DOCS_PATH,
  GUIDES,
  guidePath,
  INDEX_PATH,
  LICENSES_PATH,
  LLMS_PATH,
  SCRIPT_PATH,
} from './paths.ts';

type DocsPage = {
  path: string;
  title: string;
  /** What follows the guides in the contents, as items of a list. */
  contents: Html | Html[];
  text: Html | Html[];
};

export function docsFramed(about: About, { path, title, contents, text }: DocsPage): string {
  const main = html`<nav class="contents" aria-label="Contents">
<div id="search" data-index="${INDEX_PATH}"></div>
<ul><li><a href="${DOCS_PATH}#guides">Guides</a>${guidesList(path)}</li>
${contents}</ul></nav>
<div class="text">
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

export function guidesList(path?: string): Html {
  const links = GUIDES.map((name) => {
    const to = guidePath(name);
    const current = to === path ? html` aria-current="page"` : '';
    return html`<li><a href="${to}"${current}>${guideTitle(name)}</a></li>`;
  });
  return html`<ul>${links}</ul>`;
}

export function guidePage(about: About, name: string): string {
  const links = guideSections(name).map(
    ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
  );
  return docsFramed(about, {
    path: guidePath(name),
    title: guideTitle(name),
    contents: html`<li><a href="${DOCS_PATH}">Reference</a></li>
<li><a href="#main">On this page</a><ul>${links}</ul></li>`,
    text: { html: markdownHtml(guideText(name, baseUrlOf(about))) },
  });
}
