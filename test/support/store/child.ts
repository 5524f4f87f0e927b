// A process that shares an embedded store with a test: it compacts it, or reads and writes it.
import { once } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import { compactStores } from '../../../runtime/src/store/generations/compact.lmdb.ts';
import { openLmdb } from '../../../runtime/src/store/lmdb.ts';

const [mode, dataDir = ''] = process.argv.slice(2);

let isAsked = true;
process.stdin.on('end', () => {
  isAsked = false;
});

/** Compacts over and over once the test has written a line. */
async function compact(): Promise<void> {
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
  process.stdout.write('begun\n');
  for (;;) await compactStores(dataDir, 'sandbox');
}

/** Writes rows and reads them until its input ends; then prints how many were acknowledged. */
async function use(): Promise<void> {
  process.stdin.resume();
  const { root } = await openLmdb(dataDir, 'members', 'sandbox');
  const rows = root.openDB<{ text: string }, string>({ name: 'rows', encoding: 'json' });
  const acknowledged: string[] = [];
  let reads = 0;
  for (let row = 0; isAsked; row++) {
    const key = `row-${row}`;
    const text = 'text'.repeat(row % 700);
    let isWritten = false;
    const writing = root
      .transaction(() => rows.put(key, { text }))
      .then(
        () => acknowledged.push(key),
        (error) => {
          if (error.code !== 'ETIMEDOUT') throw error;
        },
      );
    const written = writing.finally(() => {
      isWritten = true;
    });
    // Reads go on while the write waits.
    for (; !isWritten; reads++) {
      const known = acknowledged[reads % acknowledged.length];
      if (known !== undefined && rows.get(known) === undefined) throw new Error(`lost ${known}`);
      await nextTick();
    }
    await written;
    if (row === 10) process.stdout.write('ready\n');
  }
  await root.close();
  process.stdout.write(`${JSON.stringify({ acknowledged, reads })}\n`);
}

await (mode === 'compact' ? compact() : use());
