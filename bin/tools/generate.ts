// Writes the generated files; with --check, names those that are out of date instead, and fails.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GENERATED, ROOT } from './generated.ts';

const checkOnly = process.argv.includes('--check');

for (const { file, render } of GENERATED) {
  const path = join(ROOT, file);
  const text = await render();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  if (checkOnly) {
    console.error(`${file} is out of date: npm run generate`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${file}`);
  }
}
