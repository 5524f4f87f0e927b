// Documents over the grammar of GraphQL, with the names of both surfaces and with others.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { Fuzzer } from './main.ts';
import { runCases } from './target.ts';

const surfaces = ['partner', 'member'].map((name) =>
  readFileSync(join(import.meta.dirname, `../../gateway/surface.${name}.graphql`), 'utf8'),
);
const namesIn = (pattern: RegExp) =>
  [...surfaces.join('\n').matchAll(pattern)].map(([, name = '']) => name);
const FIELDS = [
  ...namesIn(/^ {2}(\w+)[(:]/gm),
  ...['__schema', '__type', '__typename', 'types', 'fields', 'ofType', 'name', 'args', 'type'],
  ...['_entities', '_service', 'activePartnerIds', 'constructor', '__proto__', 'nothing'],
];
const TYPES = [...namesIn(/^(?:type|input) (\w+)/gm), '__Type', '_Any', 'Nothing'];
const ADDRESSES = ['both@example.com', 'beta.only@example.com', 'nobody@example.com', 'x', ''];

const name = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...FIELDS) },
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'c', 'F', 'G', 'on', 'true', 'null') },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 140 }).map((length) => 'n'.repeat(length)) },
);
const fragmentName = fc.constantFrom('F', 'G', 'H', 'Unknown');
const variableName = fc.constantFrom('email', 'id', 'flag', 'unknown');

const value = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(...ADDRESSES).map((text) => JSON.stringify(text)),
    fc.string({ maxLength: 20, unit: 'binary' }).map((text) => JSON.stringify(text)),
    variableName.map((each) => `$${each}`),
    fc.integer().map(String),
    fc.constantFrom('null', 'true', '1e999', '"""\n a\n  b"""', 'ENUM'),
    fc.array(tie('any'), { maxLength: 4 }).map((items) => `[${items.join(' ')}]`),
    fc
      .array(fc.tuple(name, tie('any')), { maxLength: 4 })
      .map((entries) => `{${entries.map(([key, each]) => `${key}: ${each}`).join(' ')}}`),
  ),
})).any;

const args = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom('email', 'externalId', 'id', 'token', 'name', 'if'), value), {
        minLength: 1,
        maxLength: 3,
      })
      .map((entries) => `(${entries.map(([key, each]) => `${key}: ${each}`).join(', ')})`),
  },
);
const directives = fc
  .array(
    fc.tuple(
      fc.constantFrom('skip', 'include', 'nothing', 'deprecated'),
      fc.constantFrom('(if: true)', '(if: $flag)', ''),
    ),
    { maxLength: 2 },
  )
  .map((each) => each.map(([directive, condition]) => `@${directive}${condition}`).join(' '));

const selections = fc.letrec<{ set: string; one: string }>((tie) => ({
  set: fc.array(tie('one'), { minLength: 1, maxLength: 8 }).map((each) => `{ ${each.join(' ')} }`),
  one: fc.oneof(
    { maxDepth: 9 },
    fc.tuple(name, args, directives).map((each) => each.join(' ')),
    fragmentName.map((each) => `...${each}`),
    fc
      .tuple(fc.option(name), name, args, directives, tie('set'))
      .map(([alias, ...rest]) => `${alias === null ? '' : `${alias}: `}${rest.join(' ')}`),
    fc
      .tuple(fc.option(fc.constantFrom(...TYPES)), directives, tie('set'))
      .map(([type, ...rest]) => `... ${type === null ? '' : `on ${type}`} ${rest.join(' ')}`),
  ),
})).set;

const variables = fc.constantFrom(
  '',
  '($email: String!)',
  '($email: String!, $id: ID = "m-both", $flag: Boolean = true)',
  '($flag: Boolean!, $unknown: [[Nothing!]])',
);
const operation = fc
  .tuple(
    fc.constantFrom('query', 'query A', 'query B', 'subscription'),
    variables,
    directives,
    selections,
  )
  .map((each) => each.join(' '));
const fragment = fc
  .tuple(fragmentName, fc.constantFrom(...TYPES), directives, selections)
  .map(([own, type, ...rest]) => `fragment ${own} on ${type} ${rest.join(' ')}`);

/** Reads that fit the schema, repeated up to the limits: what is expensive rather than wrong. */
const reads = fc
  .tuple(
    fc.integer({ min: 1, max: 12 }),
    fc.array(fc.constantFrom('memberId', 'email', 'tier', 'points', '...F', '__typename'), {
      minLength: 1,
      maxLength: 40,
    }),
    fc.constantFrom('', '@include(if: $flag)', '@skip(if: $flag)'),
  )
  .map(([count, fields, condition]) => {
    const set = fields.map(
      (each, index) => `${each.startsWith('.') ? '' : `a${index}: `}${each} ${condition}`,
    );
    const lookups = Array.from(
      { length: count },
      (_, n) => `r${n}: memberByEmail(email: $email) { ${set.join(' ')} }`,
    );
    return `query ($email: String!, $flag: Boolean = true) { ${lookups.join(' ')} a: __typename @skip(if: $flag) ...Q }
      fragment Q on Query { __typename } fragment F on PartnerMemberRead { firstName lastName ${condition} }`;
  });
const documents = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.array(operation, { minLength: 1, maxLength: 2 }),
        fc.array(fragment, { maxLength: 3 }),
      )
      .map((each) => each.flat().join('\n')),
  },
  { weight: 1, arbitrary: reads },
  { weight: 1, arbitrary: fc.string({ maxLength: 2_000, unit: 'binary' }) },
);

const requests = fc.record({
  query: documents,
  variables: fc.oneof(
    fc.record({
      email: fc.constantFrom(...ADDRESSES),
      id: fc.constantFrom('m-both', 'x'),
      flag: fc.boolean(),
    }),
    fc.object({ maxDepth: 4 }),
  ),
  operationName: fc.option(fc.constantFrom('A', 'B', 'Nothing'), { nil: undefined }),
  as: fc.constantFrom('partner', 'partner', 'partner', 'member', 'nobody'),
});

export const fuzzDocuments: Fuzzer = (target, run) =>
  runCases(target, requests, run, async ({ as, ...request }) => {
    const credential =
      as === 'member' ? { token: target.token } : as === 'nobody' ? { key: '' } : {};
    await target.send({ ...request, ...credential });
  });
