// A process that rewrites embedded stores over and over, once the test has written a line.
import { once } from 'node:events';
import { rewriteStores } from '../../../runtime/src/store/rewrite.lmdb.ts';

const [dataDir = ''] = process.argv.slice(2);

process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdout.write('begun\n');
for (;;) await rewriteStores(dataDir, 'sandbox');
