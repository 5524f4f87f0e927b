// What the reference has a page for: the operations and the types of a surface, in their order.
import type { SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import { referencePath } from './paths.ts';

/** What has a page: an operation, as a field of its root, or a type; `id` is its anchor. */
export type Referred = { path: string; id: string } & (
  | { kind: 'queries' | 'mutations'; shown: GraphQLField<unknown, unknown> }
  | { kind: 'types'; shown: GraphQLNamedType }
);
export type Group = { id: string; title: string; entries: Referred[] };

/** The order of the kinds of types, and what each is called. */
export const KINDS = [
  ['object', isObjectType],
  ['interface', isInterfaceType],
  ['union', isUnionType],
  ['input', isInputObjectType],
  ['enum', isEnumType],
  ['scalar', isScalarType],
] as const;

const known = new WeakMap<GraphQLSchema, Partial<Record<SurfaceName, Group[]>>>();

/** What a surface has, in the order of the lists; found once for each schema. */
export function groupsOf(surface: SurfaceName, schema: GraphQLSchema): Group[] {
  const found = known.get(schema) ?? {};
  known.set(schema, found);
  const groups = found[surface] ?? findGroups(surface, schema);
  found[surface] = groups;
  return groups;
}

function findGroups(surface: SurfaceName, schema: GraphQLSchema): Group[] {
  const roots = [
    { kind: 'queries' as const, title: 'Queries', root: schema.getQueryType() },
    { kind: 'mutations' as const, title: 'Mutations', root: schema.getMutationType() },
  ].flatMap(({ kind, title, root }): Group[] => {
    if (!root) return [];
    const entries = Object.values(root.getFields()).map((shown) => ({
      ...{ kind, shown, id: `${surface}-${root.name}-${shown.name}` },
      path: referencePath(surface, kind, shown.name),
    }));
    return [{ id: `${surface}-${root.name}`, title, entries }];
  });
  const types = typesOf(schema).map((shown) => ({
    ...{ kind: 'types' as const, shown, id: `${surface}-${shown.name}` },
    path: referencePath(surface, 'types', shown.name),
  }));
  return [...roots, { id: `${surface}-types`, title: 'Types', entries: types }];
}

function typesOf(schema: GraphQLSchema): GraphQLNamedType[] {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const types = Object.values(schema.getTypeMap()).filter(
    (type) =>
      !isIntrospectionType(type) &&
      !isSpecifiedScalarType(type) &&
      !roots.some((root) => root === type),
  );
  return KINDS.flatMap(([, is]) => types.filter((each) => is(each)));
}
