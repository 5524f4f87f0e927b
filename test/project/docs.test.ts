// The documentation agrees with the code: links, paths, limits, commands, citations in comments.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { PassThrough } from 'node:stream';
import { LENGTHS } from '@partner-loyalty/members';
import { ERRORS, type ErrorRow } from '@partner-loyalty/runtime/errors.ts';
import { createProgram } from '../../bin/cli/command.ts';
import { createShell } from '../../bin/cli/shell/shell.ts';
import { RETRIES } from '../../bin/tools/tables.ts';
import { LIMITS } from '../../gateway/src/document/measure.ts';
import { MAX_RESPONSE_BYTES } from '../../gateway/src/document/responsesize.ts';
import { filesIn, ROOT, read } from '../support/files.ts';

const SOURCE_FOLDERS = [
  'runtime',
  'gateway',
  'extensions',
  'subgraphs',
  'bin',
  'client',
  'test',
  'bench',
];
/** A path in prose, from the project's root. */
const PATH = /(?<![\w/-])(?:runtime|gateway|subgraphs|bin|test|docs|deploy|\.ci)\/[\w./-]*\w/g;

const LIMITS_PAGE = read('docs/callers/limits.md');
const pages = filesIn('.', /\.md$/);
const sources = SOURCE_FOLDERS.flatMap((folder) => filesIn(folder, /\.[cm]?[jt]s$/));

test.each(pages)('every link of %s leads to a file, and to a heading of it', (page) => {
  const targets = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  // For callers, /docs is a path of the service, which test/e2e/pages.test.ts follows.
  const onService = page.startsWith('docs/callers/') ? /^\// : /^https?:/;
  const broken = targets
    .filter((target) => !/^https?:/.test(target) && !onService.test(target))
    .filter((target) => {
      const [path = '', heading] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      return !existsSync(join(ROOT, file)) || (heading && !anchorsOf(read(file)).includes(heading));
    });
  expect(broken).toEqual([]);
});

test("the picture of a request's life has every folder of the gateway, and nothing else", () => {
  const [, life = ''] = read('CONTRIBUTING.md').split('## The life of a request\n');
  const [, picture = '', others = ''] =
    /```\n(.*?)```.*?\n(Of the other folders.*?)\n\n/s.exec(life) ?? [];
  const places = [...picture.matchAll(/^ *([\w./-]+(?:\/|\/\S+|\.ts)) {2}/gm)].map(
    ([, place = '']) => place,
  );
  const missing = places.filter(
    (place) => !['', 'gateway/src', 'subgraphs/members/src'].some((base) => exists(base, place)),
  );
  expect(missing).toEqual([]);
  const folders = readdirSync(join(ROOT, 'gateway/src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const onPath = places
    .filter((place) => exists('gateway/src', place))
    .map((place) => place.slice(0, -1));
  const beside = [...others.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name);
  expect([...new Set([...onPath, ...beside])].sort()).toEqual(folders.sort());
});

test('what one reads to follow a request has at most 5,000 lines', () => {
  const [, way = ''] =
    /The same path as files to read(.*?)\n\n[^1]/s.exec(read('CONTRIBUTING.md')) ?? [];
  const files = [...way.matchAll(/`([\w./]+\.ts)`/g)].map(([, file = '']) => file);
  expect(files).toContain('gateway/src/operate.ts');
  const lines = files.reduce((sum, file) => sum + read(file).split('\n').length, 0);
  expect(lines).toBeLessThanOrEqual(5_000);
});

test("the client's README, which its package contains, links to nothing beside it", () => {
  const targets = [...read('client/README.md').matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, to = '']) => to,
  );
  expect(targets.filter((target) => !/^(https:|#)/.test(target))).toEqual([]);
});

test.each(pages)('every path that %s names exists', (page) => {
  const paths = read(page).match(PATH) ?? [];
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('comments that cite a page name one of its sections, and every page that they cite exists', () => {
  const cited = /(?<![\w/])(docs\/[a-z]+\/[\w/-]+\.md)(?:,(?:\s|\/\/|\*)*([^.:;)\n]+))?/g;
  const citations = sources.flatMap((path) =>
    [...read(path).matchAll(cited)].map(([, page = '', section = '']) => ({ path, page, section })),
  );
  expect(citations.length).toBeGreaterThan(20);
  const unknown = citations.filter(({ page, section }) => {
    if (!existsSync(join(ROOT, page))) return true;
    const sections = [...read(page).matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
    return section !== '' && !sections.some((each) => section.startsWith(each));
  });
  expect(unknown).toEqual([]);
});

test('the limits for callers are those of the code', () => {
  expect(table('Limits of an operation')).toEqual([
    LIMITS.tokens,
    LIMITS.rootFields,
    LIMITS.selections,
    LIMITS.directives,
    LIMITS.inputFields,
    LIMITS.inputFields,
    LIMITS.fragments,
    LIMITS.depth,
    LIMITS.types,
    1,
    LIMITS.introspectionDepth,
    LIMITS.name,
    LIMITS.fetches,
    LIMITS.fetched,
    MAX_RESPONSE_BYTES,
  ]);
  expect(table('Limits of an argument')).toEqual([
    LENGTHS.email,
    LENGTHS.externalId,
    LENGTHS.name,
    LENGTHS.id,
  ]);
});

test('the guide to errors has the retries of the table of codes', () => {
  const [, section = ''] = read('docs/callers/guides/errors-and-retries.md').split(
    '## What to do\n',
  );
  const rows = [...section.matchAll(/^\| (.+?) \| (.*?) \| (.*?) ?\| .* \|$/gm)];
  const codes: [string, ErrorRow][] = Object.entries(ERRORS);
  for (const [code, { retry = 'never' }] of codes) {
    const row = rows.find(([, names = '']) => names.includes(`\`${code}\``)) ?? rows.at(-1);
    const [whether, howOften = ''] = RETRIES[retry].split(', ');
    expect([code, row?.[2], row?.[3]]).toEqual([code, whether, howOften]);
  }
  expect(codes.filter(([, { retry }]) => retry).map(([code]) => code)).toEqual([
    'RATE_LIMITED',
    'SERVICE_UNAVAILABLE',
    'INTERNAL_SERVER_ERROR',
  ]);
});

test('the page of the command lists every command', async () => {
  const shell = createShell(new PassThrough(), new PassThrough(), () => {
    throw new Error('no command runs here');
  });
  const commands = (await createProgram(shell)).commands.flatMap((group) =>
    group.commands.length === 0
      ? group.name()
      : group.commands.map((command) => `${group.name()} ${command.name()}`),
  );
  const listed = [
    ...read('docs/operators/command.md').matchAll(/^\| `([a-z]+(?: [a-z-]+)?)/gm),
  ].map(([, name]) => name);
  expect(listed.sort()).toEqual(commands.sort());
});

describe('the messages that docs/teams/subgraph.md quotes are those of the code', () => {
  const [, steps = ''] = read('docs/teams/subgraph.md').split('\nIf a step fails:\n');
  const [table = ''] = steps.split('\n\nIn a checkout');
  const quoted = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, message = '']) => message);
  const code = sources
    .filter((path) => !path.includes('test'))
    .map(read)
    .join('\n');

  const isOfSystem = (message: string) => /^E[A-Z]+$/.test(message);
  test.each(quoted.filter((message) => !isOfSystem(message)))('%s', (message) => {
    const pattern = message
      .replaceAll(/[{}]/g, '\\$&')
      .replace('…', '[^`]{1,80}')
      .replaceAll(/\b(offers|Offer\.starts|100)\b|…/g, '\\$\\{[^}]+\\}');
    expect(new RegExp(pattern).exec(code)?.[0]).toBeDefined();
  });
});

function exists(folder: string, path: string): boolean {
  return existsSync(join(ROOT, folder, path));
}

/** The numbers in the last column of the table below a heading of the page of limits. */
function table(heading: string): number[] {
  const [, section = ''] = LIMITS_PAGE.split(`## ${heading}\n`);
  const rows = section.split(/^#/m)[0]?.matchAll(/\| ([\d,]+) \|$/gm) ?? [];
  return [...rows].map(([, number = '']) => Number(number.replaceAll(',', '')));
}

/** The anchors that GitHub gives to a page's headings. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}
