// What `npm ci` installs: nothing that needs another Node, or runs a program of its own.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

type Package = { engines?: { node?: string }; hasInstallScript?: boolean };

const ROOT = join(import.meta.dirname, '../..');
const readJson = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
const packages: [string, Package][] = Object.entries(readJson('package-lock.json').packages);
const manifest = readJson('package.json');
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
