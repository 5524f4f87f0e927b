// Bundles a script for browsers with the packages that it uses.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** The browsers of mid-2023 and later. */
const TARGETS = ['chrome115', 'firefox115', 'safari16.5'];

export type Script = { script: string; licenses: string };

/** The script whose main file is given, and the licenses of the packages in it. */
export async function bundleScript(root: string, main: string): Promise<Script> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(root, main)],
    absWorkingDir: root,
    bundle: true,
    loader: { '.graphql': 'text', '.txt': 'text' },
    minify: true,
    format: 'esm',
    target: TARGETS,
    define: { 'process.env.NODE_ENV': '"production"', 'globalThis.process': 'undefined' },
    legalComments: 'none',
    charset: 'utf8',
    metafile: true,
    write: false,
    logLevel: 'error',
  });
  return {
    script: outputFiles.map(({ text }) => text).join(''),
    licenses: licensesOf(root, Object.keys(metafile.inputs)),
  };
}

/** The license texts of the packages that the files are from, in the order of their names. */
function licensesOf(root: string, files: readonly string[]): string {
  const folders = new Set(
    files.flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []),
  );
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    );
    const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `The script contains these packages.\n\n${texts.join('\n---\n\n')}`;
}
