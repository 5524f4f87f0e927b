// The explorer's page and its parts: the script, its licenses, the schema for tokens.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import { pageHeaders } from '@partner-loyalty/runtime/pages/layout.ts';
import type { About } from '../frame.ts';
import { contentHash, prepare } from '../prepared.ts';
import { onceForEach, type Route } from '../route.ts';
import { EXPLORER_STYLE } from '../style.ts';
import { explorerPage } from './page.ts';

const EXPLORER_PATH = '/explorer';
const MEMBER_SCHEMA_PATH = '/explorer/schema/member';
const LICENSES_PATH = '/explorer/licenses.txt';

const PAGE_HEADERS = {
  ...pageHeaders(EXPLORER_STYLE, ["script-src 'self'", "connect-src 'self'", "form-action 'none'"]),
  'cache-control': 'no-cache',
};
const SCRIPT_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  // Its path has the hash of its content.
  'cache-control': 'public, max-age=31536000, immutable',
};
const TEXT_HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-cache',
};
export function explorerRoutes(
  about: About,
  memberClaim: string,
  current: () => DocumentedGraph,
): [string, Route][] {
  const script = readFileSync(join(import.meta.dirname, 'app.generated.js'));
  const scriptPath = `/explorer/app-${contentHash(script)}.js`;
  const text = explorerPage(about, {
    scriptPath,
    licensesPath: LICENSES_PATH,
    memberSchemaPath: MEMBER_SCHEMA_PATH,
    memberClaim,
  });
  const memberSchema = onceForEach(current, async ({ surfaces }) =>
    prepare(surfaces.member.sdl, TEXT_HEADERS),
  );
  return [
    [EXPLORER_PATH, { isPage: true, content: once(() => prepare(text, PAGE_HEADERS)) }],
    [scriptPath, { isPage: false, content: once(() => prepare(script, SCRIPT_HEADERS)) }],
    [LICENSES_PATH, { isPage: false, content: once(() => prepare(licenses(), TEXT_HEADERS)) }],
    [MEMBER_SCHEMA_PATH, { isPage: false, content: memberSchema }],
  ];
}

function licenses(): Buffer {
  return readFileSync(join(import.meta.dirname, 'licenses.txt'));
}
