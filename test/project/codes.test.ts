// supergraph.yaml and the sources of the subgraphs have the codes that the table of codes says.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGraphFile, SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { isSubgraphCode } from '@partner-loyalty/runtime/errors.ts';
import { codesOf } from '../support/codes.ts';

const ROOT = join(import.meta.dirname, '../..');

test('supergraph.yaml lists the codes of each subgraph', async () => {
  const { subgraphs } = await readGraphFile(SUPERGRAPH_FILE);
  const [gateway, ...others] = subgraphs;
  expect([gateway?.name, gateway?.codes]).toEqual(['gateway', ['FORBIDDEN']]);
  expect(others.map(({ name }) => name)).toEqual(['members', 'standings']);
  for (const { name, codes } of others) {
    expect([name, [...codes].sort()]).toEqual([name, codesOf(name).sort()]);
    expect(codes.filter((code) => !isSubgraphCode(code))).toEqual([]);
  }
});

test.each(['members', 'standings'])('the sources of %s use exactly its codes', (name) => {
  const folder = join(ROOT, 'subgraphs', name, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => /(?<!\.test)\.ts$/.test(file));
  const calls = sources.flatMap((file) => [
    ...readFileSync(join(folder, file), 'utf8').matchAll(
      /\b(?:failInput\(|(?:fail|ApiError)\(([^()]*)\))/g,
    ),
  ]);
  const codes = calls.flatMap(([, inside]) =>
    inside === undefined
      ? 'BAD_USER_INPUT'
      : // The reason among the details is none.
        [...inside.matchAll(/(?<!reason: )'([A-Z][A-Z_]+)'/g)].map(([, code = '']) => code),
  );
  const own = [...new Set(codes)].filter((code) => code !== 'INTERNAL_SERVER_ERROR');
  expect(own.sort()).toEqual(codesOf(name).sort());
});
