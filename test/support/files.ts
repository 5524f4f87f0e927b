// The project's files, for tests of what they say.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
/** What is not the project's own. */
const OTHERS = new Set(['node_modules', '.git', 'data', 'dist']);

/** A file's text. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The paths of the files in a folder, or in all folders, whose names match. */
export function filesIn(folder: string, name: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return OTHERS.has(entry.name) ? [] : filesIn(path, name);
    return name.test(entry.name) ? [path] : [];
  });
}
