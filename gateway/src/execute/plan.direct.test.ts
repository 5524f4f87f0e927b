// The plans made without Apollo's planner are those that it makes.
import { readFileSync } from 'node:fs';
import { composeServices } from '@apollo/composition';
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { type PlanNode, QueryPlanner } from '@apollo/query-planner';
import { buildSchema, type DocumentNode, parse, print, printSchema, visit } from 'graphql';
import { generateOperation } from '../../../test/support/cases/operations.ts';
import { SUPERGRAPH_FILE } from '../graph/committed.ts';
import { SURFACES, type SurfaceName, surfaceSdl } from '../schema/surfaces.ts';
import { ownershipOf } from './ownership.ts';
import { planDirectly } from './plan.direct.ts';
import { fieldsOf, renameFields } from './rename.ts';

const OPERATIONS = 60;
const COMMITTED = readFileSync(SUPERGRAPH_FILE, 'utf8');

type Plans = { direct: PlanNode | 'none' | undefined; apollo: PlanNode | undefined };

function openPlanners(sdl: string) {
  const federated = Supergraph.build(sdl);
  const api = federated.apiSchema();
  const planner = new QueryPlanner(federated, { reuseQueryFragments: false });
  const schema = buildSchema(printSchema(api.toGraphQLJSSchema()));
  const fields = fieldsOf(parse(sdl));
  const ownership = ownershipOf(parse(sdl));
  const plan = (query: DocumentNode): Plans => {
    const { document } = renameFields(query, schema, fields);
    const { node } = planner.buildQueryPlan(operationFromDocument(api, document));
    if (node?.kind === 'Subscription') throw new Error('no graph has subscriptions');
    const direct = planDirectly(document, schema, ownership);
    return { direct: direct === undefined ? 'none' : direct.node, apollo: node };
  };
  return { schema, plan };
}

// Cast: Object.keys knows no key types.
describe.each(Object.keys(SURFACES) as SurfaceName[])('the %s surface', (surface) => {
  const { schema, plan } = openPlanners(surfaceSdl(COMMITTED, surface));

  test(`${OPERATIONS} generated operations have the plans of Apollo's planner`, () => {
    for (let seed = 0; seed < OPERATIONS; seed += 1) {
      const { query } = generateOperation(schema, seed, argumentOf);
      const { direct, apollo } = plan(withoutConditions(parse(query)));
      // Interfaces are left to Apollo's planner.
      if (direct === 'none' && query.includes('node(id:')) continue;
      expect({ query, plan: comparable(direct) }).toEqual({ query, plan: comparable(apollo) });
    }
  });
});

const ARGUMENTS: Readonly<Record<string, unknown>> = {
  first: 5,
  keys: [{ email: 'a@example.com' }],
};

function argumentOf(name: string): unknown {
  return ARGUMENTS[name] ?? 'a';
}

/** Under several conditions, the same field may be selected in more than one way. */
function withoutConditions(document: DocumentNode): DocumentNode {
  return visit(document, { Directive: () => null });
}

/** The calls of a plan in one form. Apollo's selects type names that nobody reads. */
function comparable(node: PlanNode | 'none' | undefined, path: readonly unknown[] = []): unknown {
  if (node === undefined || node === 'none') return node;
  switch (node.kind) {
    case 'Fetch': {
      const { serviceName, requires, operation, variableUsages = [] } = node;
      return {
        serviceName,
        path,
        requires,
        operation: sorted(operation),
        variables: [...variableUsages].sort(),
      };
    }
    case 'Flatten':
      return comparable(node.node, node.path);
    case 'Sequence':
      return node.nodes.flatMap((each) => comparable(each, path));
    case 'Condition': {
      const { kind: _, ifClause, elseClause, ...rest } = node;
      const [then, otherwise] = [ifClause, elseClause].map((each) => comparable(each, path));
      return { ...rest, then, otherwise };
    }
    case 'Parallel':
      return { parallel: node.nodes.map((each) => JSON.stringify(comparable(each, path))).sort() };
    case 'Defer':
      throw new Error('no graph has @defer');
  }
}

function sorted(operation: string): string {
  const byText = <Node extends Parameters<typeof print>[0]>(nodes: readonly Node[] = []): Node[] =>
    nodes.toSorted((a, b) => (print(a) < print(b) ? -1 : 1));
  const document = visit(parse(operation), {
    Field: ({ name }) => (name.value === '__typename' ? null : undefined),
    SelectionSet: { leave: (set) => ({ ...set, selections: byText(set.selections) }) },
    OperationDefinition: {
      leave: (node) => ({ ...node, variableDefinitions: byText(node.variableDefinitions) }),
    },
  });
  return print(document);
}

const HEAD =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@external", "@requires"])';

const { supergraphSdl = '' } = composeServices([
  {
    name: 'shelf',
    url: 'http://shelf',
    typeDefs: parse(`${HEAD}
      type Query { item(n: Int): Item items: [[Item]!] node: Node total: Int @shareable }
      type Mutation { change: Item again: Item }
      interface Node { id: ID! }
      type Item implements Node @key(fields: "id") { id: ID! name(length: Int): String size: Int next: Item }`),
  },
  {
    name: 'store',
    url: 'http://store',
    typeDefs: parse(`${HEAD}
      type Query { best: Item total: Int @shareable }
      type Item @key(fields: "id") { id: ID! size: Int @external price: Int postage: Int @requires(fields: "size") stock: Stock rating: Int @shareable }
      type Stock { left: Int of: Item }`),
  },
  {
    name: 'critics',
    url: 'http://critics',
    typeDefs: parse(`${HEAD}
      type Item @key(fields: "id") { id: ID! rating: Int @shareable }`),
  },
]);

describe('a graph with every reason to leave a plan to Apollo', () => {
  const { plan } = openPlanners(supergraphSdl);

  test.each([
    ['type names alone', '{ __typename item { __typename } }'],
    ['aliases and arguments', '{ a: item(n: 1) { long: name(length: 9) } b: item { price } }'],
    ['a fragment', '{ item { ...F } } fragment F on Item { id ... { price } }'],
    ['a list of lists', '{ items { name price } }'],
    ['two subgraphs at the root', '{ item { name } best { price } }'],
    ['a subgraph between two calls of another one', '{ best { price name next { price } } }'],
    ['an object in an object of another subgraph', '{ item { stock { left of { name } } } }'],
    ['what a field requires', '{ item { postage price } }'],
    ['a mutation', 'mutation { change { name price } }'],
    ['several fields of a mutation in one subgraph', 'mutation { change { name } again { id } }'],
    ['a condition of a whole call', 'query ($x: Boolean!) { item { id price @skip(if: $x) } }'],
    ['a condition of a field', 'query ($x: Boolean!) { item { name id @include(if: $x) } }'],
  ])("%s: the plan of Apollo's planner", (_, query) => {
    const { direct, apollo } = plan(parse(query));
    expect(comparable(direct)).toEqual(comparable(apollo));
  });

  test.each([
    ['a field of two subgraphs', '{ item { rating } }'],
    ['a root field of two subgraphs', '{ total }'],
    ['an interface', '{ node { id } }'],
    ['a field that requires those of another subgraph first', '{ best { postage } }'],
    ['several fields of a mutation over subgraphs', 'mutation { change { price } again { id } }'],
    ['a field under two conditions', 'query ($x: Boolean!) { item { id @skip(if: $x) id } }'],
  ])('%s: none', (_, query) => {
    expect(plan(parse(query)).direct).toBe('none');
  });
});
