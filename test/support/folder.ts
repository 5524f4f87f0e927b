// Temporary folders for tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `remove` removes it with its content. */
export type Folder = { path: string; remove(): void };

/** An empty folder. */
export function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'loyalty-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
