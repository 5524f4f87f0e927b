// Every command that a text names exists, with these options: the real table of commands parses it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { readCommandLine } from '../../bench/options.ts';
import { createProgram } from '../../bin/cli/command.ts';
import { createShell, oneLine } from '../../bin/cli/shell/shell.ts';
import { filesIn, ROOT, read } from '../support/files.ts';

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
