// Finds in the schema of a subgraph what gateways do not support, and says what to use instead.
import { argumentsOf, elementsIn } from '@partner-loyalty/gateway/schema/definitions.ts';
import {
  type ASTNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  OperationTypeNode,
  parse,
  print,
  visit,
} from 'graphql';
import { federationNames, type NameOf } from './federationnames.ts';

const SCOPED = 'use @tag(name: "scope-…") on the root field';
const CONTEXT = 'use @requires, or an argument';
const CONNECTOR = 'resolve the field in the subgraph';

const INSTEAD: ReadonlyMap<string | undefined, string> = new Map([
  ['authenticated', 'use @tag(name: "member") or @tag(name: "partner") on the field'],
  ['requiresScopes', SCOPED],
  ['policy', SCOPED],
  ['context', CONTEXT],
  ['fromContext', CONTEXT],
  ['source', CONNECTOR],
  ['connect', CONNECTOR],
]);

type Unsupported = { message: string; node: ASTNode };

export function unsupportedIn(typeDefs: DocumentNode): Unsupported[] {
  const found: Unsupported[] = [];
  const nameOf = federationNames(typeDefs);
  const refuseSubscription = (node: ASTNode) => {
    const message = 'subscriptions are not supported: use events, webhooks, or a query';
    found.push({ message, node });
  };
  visit(typeDefs, {
    Directive(node) {
      const name = nameOf(node.name.value);
      const instead = INSTEAD.get(name);
      if (instead !== undefined)
        found.push({ message: `@${name} is not supported: ${instead}`, node });
    },
    OperationTypeDefinition(node) {
      if (node.operation === OperationTypeNode.SUBSCRIPTION) refuseSubscription(node);
    },
    ObjectTypeDefinition(node) {
      if (node.name.value === 'Subscription') refuseSubscription(node);
    },
    ObjectTypeExtension(node) {
      if (node.name.value === 'Subscription') refuseSubscription(node);
    },
  });
  return found;
}

/** What is refused unless `former` has it already: nobody else is to be held up by it. */
export function newlyUnsupported(
  typeDefs: DocumentNode,
  former: DocumentNode | undefined,
): Unsupported[] {
  const all = (document: DocumentNode) => [...otherLinks(document), ...labelsIn(document)];
  const known = new Set(former && all(former).map(({ key }) => key));
  return all(typeDefs).filter(({ key }) => !known.has(key));
}

/** Directives that stand for `@link`, whose names of federation's directives nobody reads here. */
function otherLinks({ definitions }: DocumentNode) {
  return definitions.flatMap((schema) => {
    if (schema.kind !== Kind.SCHEMA_DEFINITION && schema.kind !== Kind.SCHEMA_EXTENSION) return [];
    return (schema.directives ?? []).flatMap((node) => {
      const name = node.name.value;
      const [{ as } = {}] = argumentsOf([node], name);
      const message = `@${name} is not supported: use @link, by this name`;
      const isLink = name === 'core' || (name !== 'link' && as === name);
      return isLink ? { key: name, message, node } : [];
    });
  });
}

/** They would have no effect, and composing takes twice as long for each. */
function labelsIn(typeDefs: DocumentNode) {
  const nameOf = federationNames(typeDefs);
  return Array.from(elementsIn(typeDefs)).flatMap(({ coordinate, node: { directives = [] } }) =>
    directives.flatMap((node) => {
      const [{ label } = {}] = argumentsOf([node], node.name.value);
      const message = '@override with a label is not supported: leave the label out';
      return nameOf(node.name.value) === 'override' && label !== undefined
        ? { key: `${coordinate} ${label}`, message, node }
        : [];
    }),
  );
}

/**
 * Fields that require the same field of an object with other arguments. An operation with both
 * would have to select it twice under one name, and Apollo's planner finds no plan for that.
 */
export function conflictingRequirements(documents: readonly DocumentNode[]): Unsupported[] {
  const found: Unsupported[] = [];
  const known = new Map<string, { args: string; by: string }>();
  const elements = documents.flatMap((each) => {
    const nameOf = federationNames(each);
    return Array.from(elementsIn(each), (element) => ({ ...element, nameOf }));
  });
  for (const { coordinate: by, node, nameOf } of elements) {
    if (node.kind !== Kind.FIELD_DEFINITION) continue;
    for (const { path, args } of requirementsOf(node, nameOf)) {
      const place = `${by.split('.')[0]}.${path}`;
      const other = known.get(place) ?? { args, by };
      known.set(place, other);
      if (other.args === args) continue;
      const message = `${by} requires ${place} with other arguments than ${other.by}, so no operation could have both: require a separate field for each`;
      found.push({ message, node });
    }
  }
  return found;
}

function requirementsOf(
  { directives = [] }: FieldDefinitionNode,
  nameOf: NameOf,
): { path: string; args: string }[] {
  const found: { path: string; args: string }[] = [];
  const requires = directives.filter(({ name }) => nameOf(name.value) === 'requires');
  for (const directive of requires)
    for (const { fields } of argumentsOf([directive], directive.name.value)) {
      const path: string[] = [];
      visit(fieldSet(fields), {
        Field: {
          enter(node) {
            path.push(node.name.value);
            found.push({
              path: path.join('.'),
              args: (node.arguments ?? []).map(print).sort().join(),
            });
          },
          leave: () => void path.pop(),
        },
      });
    }
  return found;
}

/** Composition reports what is no field set. */
function fieldSet(fields: unknown): DocumentNode {
  try {
    return parse(`{${fields}}`, { noLocation: true });
  } catch {
    return { kind: Kind.DOCUMENT, definitions: [] };
  }
}
