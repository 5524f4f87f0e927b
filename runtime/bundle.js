// Bundles a program and its packages with esbuild, for Node 20 and newer.
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Packages that stay in their folders. lmdb loads native code from there; the others are large, and
 * few processes use them.
 */
const APART =
  /^(lmdb|mongodb|nodemailer|@modelcontextprotocol\/.*|@opentelemetry\/(sdk|exporter|res|sem).*)$/;

/** What CommonJS packages expect to be defined. */
const COMMONJS = `import { createRequire as createRequireOf } from 'node:module';
const require = createRequireOf(import.meta.url);
const { dirname: __dirname, filename: __filename } = import.meta;`;

/** Writes the bundle of a program. Returns the files that it consists of, relative to `root`. */
export async function bundle(program, root, outdir) {
  const { build, stop } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: [program],
    absWorkingDir: root,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    metafile: true,
    sourcemap: 'linked',
    sourcesContent: false,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Otherwise esbuild would add a condition that Node does not have.
    conditions: ['node-addons'],
    // Code stays in memory. Shorter syntax would lose the names that oidc-provider stores by.
    minifyWhitespace: true,
    logLevel: 'error',
    banner: { js: COMMONJS },
    plugins: [{ name: 'places', setup: keepPlaces }],
  });
  await stop();
  return Object.keys(metafile.inputs);
}

/** Our code still finds its data files, and packages that stay apart. */
function keepPlaces(build) {
  // In a bundle, the dynamic import of a CommonJS package has no named exports.
  build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer }) => {
    if (kind !== 'dynamic-import' || !/\.ts$/.test(importer)) return undefined;
    if (/^(node:|@partner-loyalty\/)/.test(path) || APART.test(path)) return undefined;
    return { errors: [{ text: `${path}: import a file of ours that imports the package` }] };
  });
  build.onResolve({ filter: APART }, async ({ path, pluginData, ...from }) => {
    if (pluginData === build) return undefined;
    const { resolveDir, importer, kind } = from;
    const found = await build.resolve(path, { resolveDir, importer, kind, pluginData: build });
    if (found.errors.length > 0) return found;
    const isRequired = kind.startsWith('require');
    return { path: isRequired ? found.path : pathToFileURL(found.path).href, external: true };
  });
  build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
    const text = await readFile(path, 'utf8');
    const contents = text.replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
    if (/\bimport\.meta\b/.test(contents))
      throw new Error(`${path}: of import.meta, a program can only use dirname`);
    return { contents, loader: 'ts' };
  });
}
