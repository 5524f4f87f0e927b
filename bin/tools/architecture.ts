// The rules about who may import whom, who reads the environment and how a file begins, checked on the text of every source file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export type SourceFile = {
  /** From the project's root. */
  path: string;
  text: string;
};

type Import = {
  /** As it is written. */
  from: string;
  /** The file it leads to, from the project's root; undefined for a package. */
  file?: string;
  /** The part of this project it leads to; undefined for a package of npm or of Node. */
  part?: string;
};

type Rule = (file: SourceFile, imports: Import[]) => string[];

/** The parts of the project, each with its folder and the parts it may import. */
const PARTS: Record<string, { folder: string; mayImport: readonly string[] }> = {
  runtime: { folder: 'runtime', mayImport: [] },
  members: { folder: 'subgraphs/members', mayImport: ['runtime'] },
  standings: { folder: 'subgraphs/standings', mayImport: ['runtime'] },
  gateway: { folder: 'gateway', mayImport: ['runtime'] },
  bin: { folder: 'bin', mayImport: ['runtime', 'members', 'standings', 'gateway'] },
  test: { folder: 'test', mayImport: ['runtime', 'members', 'standings', 'gateway', 'bin'] },
  bench: {
    folder: 'bench',
    mayImport: ['runtime', 'members', 'standings', 'gateway', 'bin', 'test'],
  },
};
const SCOPE = '@partner-loyalty/';

/** Packages that one file alone may import. */
const HOMES: Record<string, string> = {
  '@apollo/federation-internals': 'gateway/src/surface/planner.ts',
  '@apollo/composition': 'gateway/src/supergraph/compose.ts',
};

// Only these see an engine: the engines themselves, and who picks one of them.
const KNOWS_ENGINES = /(^|[./])(lmdb|mongo|open|index)\.ts$/;
const ENGINE = /(^(lmdb|mongodb)$)|\.(lmdb|mongo)\.ts$/;

/** Each rule says, for one file, how the file breaks it. */
export const RULES: Record<string, Rule> = {
  'a part imports only the parts below it': (file, imports) => {
    const part = partOf(file.path);
    if (part === undefined) return [];
    const allowed = [
      part,
      ...(PARTS[part]?.mayImport ?? []),
      ...(isTest(file.path) ? ['test'] : []),
    ];
    return imports
      .filter((found) => found.part !== undefined && !allowed.includes(found.part))
      .map(({ from }) => `imports ${from}`);
  },

  'another package is imported by its name': (file, imports) => {
    const part = partOf(file.path);
    if (isTest(file.path) || part === 'bench') return [];
    return imports
      .filter((found) => found.file !== undefined && found.part !== part)
      .map(({ from }) => `reaches into another package: ${from}`);
  },

  'resolvers and rules know the store, never an engine': (file, imports) => {
    if (isTest(file.path) || partOf(file.path) === 'bench' || KNOWS_ENGINES.test(file.path))
      return [];
    return imports
      .filter(({ from }) => ENGINE.test(from))
      .map(({ from }) => `imports the engine ${from}`);
  },

  "the graph's composer and gateway have one file each": (file, imports) => {
    if (partOf(file.path) === 'bench' || isTest(file.path)) return [];
    return imports
      .filter(({ from }) => HOMES[from] !== undefined && HOMES[from] !== file.path)
      .map(({ from }) => `imports ${from}`);
  },

  'what is imported is declared by the package itself': (file, imports) => {
    const part = partOf(file.path);
    const manifest = part === undefined ? undefined : manifestOf(part);
    if (manifest === undefined || isTest(file.path) || part === 'bench') return [];
    const packages = imports
      .filter(({ from, file: target }) => target === undefined && !from.startsWith('node:'))
      .map(({ from }) => packageName(from));
    return packages
      .filter((name) => !manifest.includes(name))
      .map((name) => `imports ${name}, which package.json does not name`);
  },

  'the environment is read in one place': (file) => {
    if (
      isTest(file.path) ||
      partOf(file.path) === 'bench' ||
      file.path === 'runtime/src/settings/settings.ts'
    )
      return [];
    // Setting a variable for a library that takes no other configuration is not reading one.
    return codeLines(file.text)
      .filter((line) => /process\s*\.\s*env\b(?!\.\w+ = )/.test(line))
      .map(() => 'reads the environment');
  },

  'a file begins with one sentence on what lives in it': (file) => {
    const first = file.text.replace(/^#!.*\n/, '').split('\n', 1)[0] ?? '';
    return /^\/\/ \S.*\.$/.test(first) ? [] : ['does not begin with a comment of one sentence'];
  },
};

/** How the files break the rules, a line each; empty where they keep them. */
export function breaches(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const imports = importsOf(file);
    return Object.entries(RULES).flatMap(([promise, rule]) =>
      rule(file, imports).map((what) => `${file.path}: ${what} (${promise})`),
    );
  });
}

const ROOT = join(import.meta.dirname, '../..');

/** Every source file of the project. */
export function sourceFiles(): SourceFile[] {
  const folders = Object.values(PARTS).map(({ folder }) => folder);
  const paths = folders.filter((folder) => existsSync(join(ROOT, folder))).flatMap(listFiles);
  return paths
    .filter((path) => /\.[cm]?[jt]s$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

function listFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(path);
    return [path];
  });
}

function importsOf({ path, text }: SourceFile): Import[] {
  const forms =
    /^(?:import|export)\b[^;']*?\bfrom\s*'([^']+)'|^import\s*'([^']+)'|\b(?:import|require)\(\s*'([^'\n]+)'\s*\)/gm;
  return [...text.matchAll(forms)].map(([, first, second, third]) => {
    const from = first ?? second ?? third ?? '';
    if (from.startsWith('.')) {
      const file = normalize(join(dirname(path), from));
      return { from, file, part: partOf(file) };
    }
    const name = from.startsWith(SCOPE) ? from.slice(SCOPE.length) : undefined;
    return { from, part: name?.split('/', 1)[0] };
  });
}

function partOf(path: string): string | undefined {
  return Object.entries(PARTS).find(([, { folder }]) => path.startsWith(`${folder}/`))?.[0];
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || /(^|\/)test\//.test(path);
}

function manifestOf(part: string): string[] | undefined {
  const path = join(ROOT, PARTS[part]?.folder ?? '', 'package.json');
  if (!existsSync(path)) return undefined;
  return Object.keys(JSON.parse(readFileSync(path, 'utf8')).dependencies ?? {});
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function codeLines(text: string): string[] {
  return text.split('\n').filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line));
}
