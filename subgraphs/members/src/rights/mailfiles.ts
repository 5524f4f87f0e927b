// Removes mail that was written as files, and not sent.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Traces } from './traces.ts';

/** Removes the files in `dataDir/outbox` that name one of the addresses. */
export async function removeMailFiles(dataDir: string, { addresses }: Traces): Promise<void> {
  const folder = join(dataDir, 'outbox');
  // Without the folder, no mail was written as a file.
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    // Lines that the encoding has split (RFC 2045, section 6.7).
    const words = text
      .replaceAll('=\r\n', '')
      .toLowerCase()
      .split(/[\s<>"',;()]+/);
    if (words.some((word) => addresses.has(word))) await rm(path, { force: true });
  }
}
