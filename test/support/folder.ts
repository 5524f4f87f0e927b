// Temporary folders for tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder; `remove` removes it with its content. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'loyalty-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
