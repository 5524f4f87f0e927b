// The repository itself.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { parse } from 'yaml';
import { readCommandLine } from '../../bench/options.ts';
import { README, renderReadme } from '../../bench/report/report.ts';
import { createProgram } from '../../bin/cli/command.ts';
import { createShell, oneLine } from '../../bin/cli/shell/shell.ts';
import { codesOf } from '../support/codes.ts';
import { filesIn, ROOT, read } from '../support/files.ts';

// Every command that a text names exists, with these options: the real table of commands parses it.

// Results name the commands that they were measured with.
const texts = filesIn('.', /(?<!RESULTS)(\.md|\.ya?ml|^Dockerfile|^run)$/);
const sources = filesIn('.', /\.[cm]?[jt]s$/);

/** What commands take in the place of these words. */
const EXAMPLES: Record<string, string> = {
  EMAIL: 'ada@example.com',
  N: '1',
  NAME: 'offers',
  SURFACE: 'partner',
  TIME: '1h',
  URL: 'http://localhost:4021/graphql',
  VERSION: '1',
};
/** What is wrong with a command of which a sentence names only the beginning. */
const INCOMPLETE = new Set([
  'commander.help',
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
]);

type Snippet = {
  text: string;
  /** A sentence can name the beginning of a command: `members erase`. */
  isProse: boolean;
};

test('no text or source lets npx ask the public registry for the command', () => {
  const asking = [...texts, ...sources].filter((path) => /npx\s+loyalty/.test(read(path)));
  expect(asking).toEqual([]);
});

test.each(texts)('the commands in %s exist', async (path) => {
  const faults: string[] = [];
  for (const { text, isProse } of snippets(path)) {
    const typed = loyaltyCommand(text);
    if (typed !== undefined) faults.push(...(await parsed(typed, isProse)));
    faults.push(...npmFaults(text));
  }
  expect(faults).toEqual([]);
});

test('the commands that messages and help texts name exist', async () => {
  const production = sources.filter((path) => !/\.test\.ts$|^test\/|^bench\//.test(path));
  const named = production.flatMap((path) =>
    [...read(path).matchAll(/(?:--no-install |run |`|: )loyalty ([a-z][^`'"$\\\n<]*)/g)].map(
      ([, command = '']) => command.trim(),
    ),
  );
  expect(named).not.toEqual([]);
  const faults = await Promise.all(named.map((command) => parsed(command, true)));
  expect(faults.flat()).toEqual([]);
});

test.each([
  ['npx --no-install loyalty upgrade', "unknown command 'upgrade'"],
  ['npx --no-install loyalty keys remove acme', "unknown command 'remove'"],
  ['npx --no-install loyalty compact --quickly', "unknown option '--quickly'"],
  ['npx --no-install loyalty keys create', "missing required argument 'partner'"],
  ['docker compose run --rm -T loyalty members exprot m-1', "unknown command 'exprot'"],
  ['kubectl exec deployment/loyalty -- node bin/loyalty.js partner list', "unknown command 'part"],
  ['| `supergraph diff` | Compares. |', "unknown command 'diff'"],
])('%s would be found', async (text, fault) => {
  const faults = await parsed(loyaltyCommand(text) ?? '', false);
  expect(faults).toEqual([expect.stringContaining(fault)]);
});

/** Code blocks by the line and code spans, without line breaks; of other files, each line. */
function snippets(path: string): Snippet[] {
  const text = read(path);
  if (!path.endsWith('.md'))
    return lines(text.replaceAll(/^[ \t]*#/gm, '')).map((text) => ({
      text,
      isProse: text.includes('`'),
    }));
  const blocks = [...text.matchAll(/^ *```\w*\n(.*?)^ *```/gms)];
  const spans = [
    ...text.replaceAll(/^ *```.*?^ *```/gms, '').matchAll(/`((?:[^`\n]|\n(?!\n))+)`/g),
  ];
  return [
    ...blocks.flatMap(([, block = '']) => lines(block)).map((text) => ({ text, isProse: false })),
    ...spans.map(([, span = '']) => ({ text: span.replaceAll(/\s+/g, ' '), isProse: true })),
  ];
}

function lines(text: string): string[] {
  return text.replaceAll(/\\\n\s*/g, '').split('\n');
}

/** What is typed after `loyalty`, if the text has it or begins with a group of commands. */
function loyaltyCommand(text: string): string | undefined {
  const [, after] =
    /(?:--no-install |run --rm (?:-T )?|^\s*\$? ?)loyalty ([a-z-].*)/.exec(text) ??
    /bin\/loyalty\.js ([a-z-].*)/.exec(text) ??
    /^[\s|`]*((?:partners|keys|members|tokens|supergraph) [a-z][a-z-]*\b.*)/.exec(text) ??
    [];
  return after?.replace(/\s+([|&;<>#]|`).*/, '').replace(/`.*/, '');
}

/** Why the command cannot be run; nothing runs. */
async function parsed(typed: string, isProse: boolean): Promise<string[]> {
  const shell = createShell(new PassThrough(), new PassThrough(), () => {
    throw new Error('no command runs here');
  });
  const program = await createProgram(shell);
  inert(program);
  const words = typed.match(/'[^']*'|\S+/g) ?? [];
  const args = words
    .map((word) =>
      word.startsWith("'")
        ? word.slice(1, -1)
        : word
            .replaceAll(/[[\]"']|\|\w+/g, '')
            .replaceAll(/\b[A-Z]+\b/g, (name) => EXAMPLES[name] ?? name),
    )
    .filter((word) => word !== '' && word !== '…');
  try {
    await program.parseAsync(args, { from: 'user' });
    return [];
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return [];
    const isIncomplete = error instanceof CommanderError && INCOMPLETE.has(error.code);
    return isProse && isIncomplete ? [] : [`loyalty ${typed}: ${oneLine(error)}`];
  }
}

/** Makes each command do nothing, and throw what it would print. */
function inert(command: Command): void {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  if (command.commands.length === 0) command.action(() => undefined);
  for (const each of command.commands) inert(each);
}

/** The scripts of npm that the text names and that the workspace does not have. */
function npmFaults(text: string): string[] {
  return [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test))\b(?: -w (\S+\w))?([^&|`#]*)/g)]
    .filter(([, run, other, workspace = '.', rest = '']) => {
      const script = run ?? other ?? '';
      if (script === 'bench') readCommandLine(rest.replace(/^ *-- */, '').split(/ +/));
      const manifest = join(workspace, 'package.json');
      return !existsSync(join(ROOT, manifest)) || !JSON.parse(read(manifest)).scripts?.[script];
    })
    .map(([command]) => command);
}

// The options in node.env take effect, and every start of the service uses them.
describe('nodeoptions', () => {
  function evaluated(expression: string, flag: string): string {
    return execFileSync(process.execPath, [flag, '-p', expression], {
      cwd: ROOT,
      encoding: 'utf8',
      env: {},
    });
  }

  test('node.env sets the size of the young generation, which the limit of the heap includes', () => {
    const heapLimit = (flag: string) => evaluated('v8.getHeapStatistics().heap_size_limit', flag);
    expect(heapLimit('--env-file=node.env')).toBe(heapLimit('--max-semi-space-size=64'));
    expect(heapLimit('--env-file=node.env')).not.toBe(heapLimit('--max-semi-space-size=16'));
  });

  test.each(['.', 'gateway', 'subgraphs/members', 'subgraphs/standings'])(
    'npm start in %s uses node.env, and replaces its shell so that signals reach node',
    (folder) => {
      const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
      const [, file = '', launcher = ''] =
        /^exec node --no-allocation-site-pretenuring --heap-growing-percent=200 --env-file=(\S+) (\S+) \S+$/.exec(
          manifest.scripts.start,
        ) ?? [];
      expect(resolve(ROOT, folder, file)).toBe(join(ROOT, 'node.env'));
      expect(resolve(ROOT, folder, launcher)).toBe(join(ROOT, 'runtime/run.js'));
    },
  );
});

// The files of the repository agree: error codes, the Node that is named, packages and speed.
describe('repository', () => {
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

  test.each(FORMS)(
    '%s is an issue form: each question has a label and an ID of its own',
    (path) => {
      const { name, description, body } = parse(read(path));
      expect([name, description]).toEqual([expect.any(String), expect.any(String)]);
      const questions = body.filter(({ type }: { type: string }) => type !== 'markdown');
      for (const { type, id, attributes } of questions) {
        expect(['textarea', 'input', 'dropdown', 'checkboxes']).toContain(type);
        expect([id, attributes.label]).toEqual([expect.any(String), expect.any(String)]);
      }
      expect(new Set(questions.map(({ id }: { id: string }) => id)).size).toBe(questions.length);
    },
  );

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
});
