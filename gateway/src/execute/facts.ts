// What the gateway needs to know of a surface to prepare operations and complete responses.
import { LONGEST_HASHED } from '@partner-loyalty/runtime/input.ts';
import { buildASTSchema, type DocumentNode, type GraphQLSchema, isEnumType, parse } from 'graphql';
import { type RootScopes, rootScopesOf } from '../schema/scopes.ts';
import { joinedSubgraphs, partsIn, type ServiceParts } from '../schema/supergraph.ts';
import { type SurfaceName, surfaceDocument } from '../schema/surfaces.ts';
import { memberIdTypesOf } from './members.ts';
import { type Ownership, ownershipOf } from './ownership.ts';
import { fieldsOf, type GraphFields } from './rename.ts';

export type SurfaceFacts = {
  /** The schema that callers see, as text: graphql-js cannot print each one. */
  sdl: string;
  subgraphs: readonly string[];
  fields: GraphFields;
  ownership: Ownership;
  rootScopes: RootScopes;
  /** The parts of the whole graph. */
  parts: ServiceParts;
  /** The types that have a member's ID in the graph, whether callers see it or not. */
  memberIdTypes: ReadonlySet<string>;
};

/** The facts of a valid supergraph as a surface sees it, with what its callers see. */
export function factsOf(supergraph: DocumentNode, sdl: string): SurfaceFacts {
  return {
    sdl,
    subgraphs: Array.from(joinedSubgraphs(supergraph).values(), ({ name }) => name),
    fields: fieldsOf(supergraph),
    ownership: ownershipOf(supergraph),
    rootScopes: rootScopesOf(supergraph),
    parts: partsIn(supergraph),
    memberIdTypes: memberIdTypesOf(supergraph),
  };
}

/** A supergraph as a surface sees it, or as it is. */
export function graphAsSeen(supergraph: string, surface: SurfaceName | undefined): DocumentNode {
  const graph = parse(supergraph, { noLocation: true });
  return surface === undefined ? graph : surfaceDocument(graph, surface);
}

/** A schema that looks up no text from outside that is too long for V8 to hash. */
export function schemaOf(document: DocumentNode): GraphQLSchema {
  const schema = buildASTSchema(document, { assumeValid: true });
  const ifHashed =
    <T>(find: (name: string) => T) =>
    (name: string) =>
      name.length > LONGEST_HASHED ? undefined : find(name);
  for (const type of Object.values(schema.getTypeMap()))
    if (isEnumType(type)) type.getValue = ifHashed(type.getValue.bind(type));
  schema.getType = ifHashed(schema.getType.bind(schema));
  return schema;
}
