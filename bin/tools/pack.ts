// Makes what `npm pack -w @partner-loyalty/cli` packs: the command's programs and their data.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ownCommit } from '@partner-loyalty/runtime/version.ts';
import { build, type Plugin } from 'esbuild';
import { ROOT } from './generated.ts';

const FOLDER = join(ROOT, 'bin/dist');
const MANIFEST = join(ROOT, 'bin/package.json');
/** What programs read beside their code; JSON is part of the code. */
const DATA =
  /^(supergraph\.yaml|docs\/callers\/.*|.*\.(graphql|css|txt)|.*\.generated\.js|.*\/pressed\.js)$/;
/** Threads and child processes of the gateway. */
const WORKER = /^(gateway|extensions)\/.*\/worker\.ts$/;
const PLACES = ['supergraph.yaml', 'runtime', 'gateway', 'extensions', 'subgraphs', 'docs/callers'];
/** What a team without a checkout starts from (docs/teams/subgraph.md). */
const EXAMPLES = ['examples/offers-apollo', 'examples/offers-python'];

/** Runs a program that is named by its source, as runtime/run.js does in a checkout. */
const LAUNCHER = `import { relative, resolve } from 'node:path';
const [node, , program, ...args] = process.argv;
process.argv = [node, program, ...args];
const source = relative(resolve(import.meta.dirname, '..'), program);
await import(\`../programs/\${source.replace(/\\.ts$/, '').replace(/[\\\\/]/g, '-')}.js\`);
`;

/** Programs find their data as they do in a checkout. */
const inPlace: Plugin = {
  name: 'in place',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const folder = JSON.stringify(`/../${relative(ROOT, dirname(path))}`);
      const text = readFileSync(path, 'utf8');
      const contents = text.replaceAll('import.meta.dirname', `(PROGRAMS + ${folder})`);
      return { contents, loader: 'ts' };
    });
  },
};

const files = PLACES.flatMap(filesIn);
rmSync(FOLDER, { recursive: true, force: true });
for (const file of [...files.filter((path) => DATA.test(path)), ...EXAMPLES.flatMap(filesIn)])
  cpSync(join(ROOT, file), join(FOLDER, file));
// Programs read the version from it, as from the root's in a checkout, and the commit.
const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'));
writeFileSync(join(FOLDER, 'package.json'), JSON.stringify({ ...manifest, gitHead: ownCommit() }));
mkdirSync(join(FOLDER, 'runtime'), { recursive: true });
writeFileSync(join(FOLDER, 'runtime/run.js'), LAUNCHER);

const external = Object.keys(manifest.dependencies);
/** Only services are traced. */
const UNUSED = ['@opentelemetry/*'];
const programs = ['bin/loyalty.ts', ...files.filter((path) => WORKER.test(path))];
const { metafile } = await build({
  entryPoints: programs.map((path) => ({
    in: join(ROOT, path),
    out: path.replace(/\.ts$/, '').replaceAll('/', '-'),
  })),
  absWorkingDir: ROOT,
  outdir: join(FOLDER, 'programs'),
  bundle: true,
  splitting: true,
  metafile: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: [...external, ...UNUSED],
  banner: { js: 'const PROGRAMS = import.meta.dirname;' },
  plugins: [inPlace],
  logLevel: 'error',
});

const used = Object.values(metafile.outputs).flatMap(({ imports }) =>
  imports.map(({ path }) => path),
);
const unused = external.filter((name) => !used.some((path) => `${path}/`.startsWith(`${name}/`)));
const missing = Object.keys(metafile.inputs).filter((path) => path.includes('node_modules/'));
if (unused.length + missing.length > 0)
  throw new Error(
    `${MANIFEST} must list exactly the dependencies; unused: ${unused.join(', ') || 'none'}; missing: ${missing.slice(0, 5).join(', ') || 'none'}`,
  );

/** Relative to the root. */
function filesIn(place: string): string[] {
  if (place.includes('.')) return [place];
  return readdirSync(join(ROOT, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
    .filter((path) => !/(^|\/)(node_modules|__pycache__|test)\//.test(path));
}
