// Reads supergraph.yaml: the committed one, and wrong ones.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codesOf } from '../../../test/support/codes.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { SUPERGRAPH_CONFIG } from './committed.ts';
import { readSupergraphConfig } from './config.ts';

const folder = temporaryFolder();
const file = join(folder.path, 'supergraph.yaml');
afterAll(folder.remove);

test('the committed file has the subgraphs of this repository, with the codes of their errors', () => {
  const configured = readSupergraphConfig(SUPERGRAPH_CONFIG);
  expect(configured.map(({ name, batching }) => [name, batching])).toEqual([
    ['gateway', false],
    ['members', true],
    ['standings', true],
  ]);
  for (const { name, codes } of configured)
    if (name !== 'gateway') expect([...codes].sort()).toEqual(codesOf(name).sort());
});

test('what is left out is off, and schemas are beside the file', () => {
  writeFileSync(file, 'subgraphs: { offers: { schema: { file: ./offers.graphql } } }');
  expect(readSupergraphConfig(file)).toEqual([
    { name: 'offers', batching: false, codes: [], schemaFile: join(folder.path, 'offers.graphql') },
  ]);
});

const offers = (more: string) => `subgraphs: { offers: { schema: { file: a.graphql }, ${more} } }`;
test.each([
  ['no subgraphs', 'federation_version: 2', 'subgraphs is missing'],
  ['no schema', 'subgraphs: { offers: { batching: true } }', 'subgraphs.offers.schema is missing'],
  ['a misspelt option', offers('batch: true'), 'unknown property "batch" in subgraphs.offers'],
  ['a code that masks errors', offers('codes: [INTERNAL_SERVER_ERROR]'), 'must not be a code'],
  ['a code in lower case', offers('codes: [expired]'), 'must have 1 to 64 capital letters'],
  ['a name in upper case', 'subgraphs: { Offers: { schema: { file: a.graphql } } }', 'Offers'],
])('%s is refused', (_what, yaml, message) => {
  writeFileSync(file, yaml);
  expect(() => readSupergraphConfig(file)).toThrow(message);
});
