// The files of the repository agree: error codes, the Node that is named, packages and speed.

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readGraphFile, SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { isSubgraphCode } from '@partner-loyalty/runtime/errors.ts';
import { parse } from 'yaml';
import { README, renderReadme, withSpeed } from '../../bench/report/report.ts';
import { codesOf } from '../support/codes.ts';
import { filesIn, read } from '../support/files.ts';

const FORMS = filesIn('.github/ISSUE_TEMPLATE', /\.yml$/);
const manifest = JSON.parse(read('package.json'));

test('every workspace has the version of the project', () => {
  const manifests = manifest.workspaces.flatMap((each: string) =>
    filesIn(each.replace('/*', ''), /^package\.json$/),
  );
  expect(manifests).toContain('extensions/site/package.json');
  const versions = manifests.map((file: string) => JSON.parse(read(file)).version);
  expect(new Set(versions)).toEqual(new Set([manifest.version]));
  expect(read('CHANGELOG.md')).toContain(manifest.version);
});

test('the workflow runs .ci/run on the oldest Node that package.json supports', () => {
  const oldest = read('.nvmrc').trim();
  expect(manifest.engines.node).toBe(`>=${oldest}.0`);
  const { jobs, permissions, on } = parse(read('.github/workflows/ci.yml'));
  expect(permissions).toEqual({ contents: 'read' });
  expect(Object.keys(on)).toEqual(['push', 'pull_request']);
  expect(jobs.run.container).toBe(`node:${oldest}-bookworm`);
  expect(jobs.run.steps.at(-1)).toEqual({ run: '.ci/run' });
  expect(JSON.parse(read('.github/renovate.json')).constraints).toEqual({ node: `${oldest}.0` });
});

test.each(FORMS)('%s is an issue form: each question has a label and an ID of its own', (path) => {
  const { name, description, body } = parse(read(path));
  expect([name, description]).toEqual([expect.any(String), expect.any(String)]);
  const questions = body.filter(({ type }: { type: string }) => type !== 'markdown');
  for (const { type, id, attributes } of questions) {
    expect(['textarea', 'input', 'dropdown', 'checkboxes']).toContain(type);
    expect([id, attributes.label]).toEqual([expect.any(String), expect.any(String)]);
  }
  expect(new Set(questions.map(({ id }: { id: string }) => id)).size).toBe(questions.length);
});

const ROOT = join(import.meta.dirname, '../..');

test('supergraph.yaml lists the codes of each subgraph', async () => {
  const { subgraphs } = await readGraphFile(SUPERGRAPH_FILE);
  const [gateway, ...others] = subgraphs;
  expect([gateway?.name, gateway?.codes]).toEqual(['gateway', ['FORBIDDEN']]);
  expect(others.map(({ name }) => name)).toEqual(['members', 'standings']);
  for (const { name, codes } of others) {
    expect([name, [...codes].sort()]).toEqual([name, codesOf(name).sort()]);
    expect(codes.filter((code) => !isSubgraphCode(code))).toEqual([]);
  }
});

test.each(['members', 'standings'])('the sources of %s use exactly its codes', (name) => {
  const folder = join(ROOT, 'subgraphs', name, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => /(?<!\.test)\.ts$/.test(file));
  const calls = sources.flatMap((file) => [
    ...readFileSync(join(folder, file), 'utf8').matchAll(
      /\b(?:failInput\(|(?:fail|ApiError)\(([^()]*)\))/g,
    ),
  ]);
  const codes = calls.flatMap(([, inside]) =>
    inside === undefined
      ? 'BAD_USER_INPUT'
      : // The reason among the details is none.
        [...inside.matchAll(/(?<!reason: )'([A-Z][A-Z_]+)'/g)].map(([, code = '']) => code),
  );
  const own = [...new Set(codes)].filter((code) => code !== 'INTERNAL_SERVER_ERROR');
  expect(own.sort()).toEqual(codesOf(name).sort());
});

type Package = { engines?: { node?: string }; hasInstallScript?: boolean };

const readJson = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
const packages: [string, Package][] = Object.entries(readJson('package-lock.json').packages);
/** A part of jest. */
const {
  minVersion,
  satisfies,
}: Record<'minVersion' | 'satisfies', (...texts: string[]) => unknown> = createRequire(
  join(ROOT, 'package.json'),
)('semver');

test('every package runs on the oldest Node that the README names', () => {
  const oldest = String(minVersion(manifest.engines.node));
  expect(oldest).toBe('20.19.0');
  const refusing = packages.filter(([, { engines }]) => !satisfies(oldest, engines?.node ?? '*'));
  expect(refusing).toEqual([]);
});

test('every install script is denied, and none is denied that is not there', () => {
  const withScript = packages.filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = new Set(withScript.map(([path]) => path.replace(/^.*node_modules\//, '')));
  const denied = Object.fromEntries([...names].map((name) => [name, false]));
  expect(manifest.allowScripts).toEqual(denied);
});

test('README.md has the figures of the recorded results', () => {
  expect(readFileSync(README, 'utf8')).toBe(renderReadme());
});

test('the section goes between its markers, with the same result when repeated', () => {
  const text = 'before\n<!-- speed -->\nold\n<!-- end speed -->\nafter\n';
  const once = withSpeed(text, 'new\n');
  expect(once).toBe('before\n<!-- speed -->\n\nnew\n\n<!-- end speed -->\nafter\n');
  expect(withSpeed(once, 'new\n')).toBe(once);
});

test.each(['text\n<!-- speed -->\n', 'text\n<!-- end speed -->\n'])(
  'a text without a marker is refused: %j',
  (text) => {
    expect(() => withSpeed(text, '')).toThrow('there is no section between');
  },
);
