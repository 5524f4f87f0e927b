// Applies a plan's rewrites to data that goes to a subgraph or comes from one.
import type { FetchDataRewrite } from '@apollo/query-planner';
import { type GraphQLSchema, isAbstractType, isInterfaceType, isObjectType } from 'graphql';

type Data = Record<string, unknown>;

const FRAGMENT = '... on ';

/** Applies a fetch's rewrites to data, in place. */
export function rewrite(
  supergraph: GraphQLSchema,
  rewrites: readonly FetchDataRewrite[] | undefined,
  data: unknown,
): void {
  if (rewrites === undefined) return;
  for (const each of rewrites) apply(supergraph, each.path, data, each);
}

function apply(
  supergraph: GraphQLSchema,
  path: readonly string[],
  value: unknown,
  change: FetchDataRewrite,
): void {
  if (Array.isArray(value)) {
    for (const item of value) apply(supergraph, path, item, change);
    return;
  }
  const [step, ...rest] = path;
  if (typeof value !== 'object' || value === null || step === undefined) return;
  const data = value as Data;
  if (step.startsWith(FRAGMENT)) {
    if (isOfType(supergraph, data, step.slice(FRAGMENT.length), true))
      apply(supergraph, rest, data, change);
  } else if (rest.length > 0) {
    if (Object.hasOwn(data, step)) apply(supergraph, rest, data[step], change);
  } else if (change.kind === 'ValueSetter') {
    data[step] = change.setValueTo;
  } else if (Object.hasOwn(data, step)) {
    data[change.renameKeyTo] = data[step];
    delete data[step];
  }
}

/** Whether an object is of a type, an interface or a union; `unknown` if it has no type name. */
export function isOfType(
  supergraph: GraphQLSchema,
  { __typename }: Data,
  name: string,
  unknown: boolean,
): boolean {
  if (typeof __typename !== 'string') return unknown;
  if (__typename === name) return true;
  const [own, wanted] = [supergraph.getType(__typename), supergraph.getType(name)];
  return (
    isAbstractType(wanted) &&
    (isObjectType(own) || isInterfaceType(own)) &&
    supergraph.isSubType(wanted, own)
  );
}
