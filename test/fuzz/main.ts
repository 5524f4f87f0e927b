// Sends the service what nobody would, for a while: `npm run fuzz -- [--seed N] [--seconds S]`.
import { parseArgs } from 'node:util';
import { startDeployed } from '../support/service/stack.ts';
import { fuzzDocuments } from './documents.ts';
import { fuzzHttp } from './http.ts';
import { fuzzImports } from './imports.ts';
import { openTarget, type Target } from './target.ts';

/** Each fuzzer runs for its part of the time. It throws on what must not happen. */
export type Fuzzer = (
  target: Target,
  run: { seed: number; milliseconds: number },
) => Promise<number>;

const FUZZERS: { name: string; part: number; fuzz: Fuzzer }[] = [
  { name: 'documents', part: 0.6, fuzz: fuzzDocuments },
  { name: 'http', part: 0.3, fuzz: fuzzHttp },
  { name: 'imports', part: 0.1, fuzz: fuzzImports },
];

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    seconds: { type: 'string', default: '60' },
  },
});
const [seed, seconds] = [Number(values.seed), Number(values.seconds)];

const service = await startDeployed('one process', { RATE_LIMIT_BUDGET: '1000000' });
try {
  const target = await openTarget(service);
  for (const { name, part, fuzz } of FUZZERS) {
    const cases = await fuzz(target, { seed, milliseconds: seconds * 1_000 * part });
    console.log(`${name}: ${cases} cases`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  // Why the counterexample failed.
  if (error instanceof Error && error.cause !== undefined) console.error(error.cause);
  console.error(`failed; repeat it with: npm run fuzz -- --seed ${seed} --seconds ${seconds}`);
  process.exitCode = 1;
} finally {
  await service.close();
}
