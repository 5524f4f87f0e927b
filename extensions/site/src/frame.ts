// The frame of the pages for partners' engineers: heading, navigation, main part.
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { documentText } from '@partner-loyalty/runtime/pages/layout.ts';
import { FRAME_STYLE, PARTS_STYLE, textBeside } from '@partner-loyalty/runtime/pages/style.ts';

/** What every page shows about the service. */
export type About = {
  environment: 'sandbox' | 'production';
  endpoint: string;
  /** The same of the other environment; undefined if nobody has set where that is. */
  otherEndpoint: string | undefined;
  mcpEndpoint: string;
  hasExplorer: boolean;
  hasConsole: boolean;
};

/** The URL of the service, without a slash at its end. */
export function baseUrlOf({ endpoint }: Pick<About, 'endpoint'>): string {
  return endpoint.slice(0, -'/graphql'.length);
}

type FramedPage = {
  title: string;
  /** The path of the page, which the navigation marks. */
  path: string;
  main: Html;
  /** A class of the body, for the style. */
  kind: string;
  /** The attributes of the main part, for a script. */
  attributes?: Readonly<Record<string, string>>;
  style?: string;
  head?: Html;
};

const PLACES = [
  ['/', 'Start'],
  ['/docs', 'Docs'],
  ['/explorer', 'Explorer'],
  ['/console', 'Console'],
] as const;

export function framed(about: About, page: FramedPage): string {
  const { title, path, main, kind, attributes = {}, style, head } = page;
  const data = Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`);
  const isOff = (to: string) =>
    (to === '/explorer' && !about.hasExplorer) || (to === '/console' && !about.hasConsole);
  const links = PLACES.filter(([to]) => !isOff(to)).map(
    ([to, name]) => html`<li><a href="${to}"${current(to, path)}>${name}</a></li>`,
  );
  const body = html`<a class="skip" href="#main">Skip to the content</a>
<header class="bar ${kind}">
<a class="mark" href="/">Partner Loyalty</a>
<span class="badge ${about.environment}">${about.environment}</span>
<nav aria-label="Pages"><ul>${links}</ul></nav>
</header>
<main id="main" class="${kind}" tabindex="-1"${data}>
${main}
</main>`;
  return documentText(title, style ?? DOCS_STYLE, body, head);
}

function current(to: string, path: string): Html | string {
  if (to === path) return html` aria-current="page"`;
  return path.startsWith(`${to}/`) ? html` aria-current="true"` : '';
}

const FOLDER = import.meta.dirname;
export const DOCS_STYLE = `${FRAME_STYLE}${PARTS_STYLE}${textBeside(FOLDER, 'docs.css')}`;
export const EXPLORER_STYLE = `${FRAME_STYLE}${textBeside(FOLDER, 'explorer.css')}`;
