// What the gateway needs to know of a surface to prepare operations and complete responses.
import { buildASTSchema, buildSchema, type DocumentNode } from 'graphql';
import { type RootScopes, rootScopesOf } from '../schema/scopes.ts';
import { hasMemberId } from './members.ts';
import { graphNames, type Ownership, ownershipOf } from './ownership.ts';
import { fieldsOf, type GraphFields } from './rename.ts';

export type SurfaceFacts = {
  /** The schema that callers see. */
  api: string;
  subgraphs: string[];
  fields: GraphFields;
  ownership: Ownership;
  /** The types of `api` whose member ID is hidden from callers. */
  hiddenMembers: ReadonlySet<string>;
  scopes: RootScopes;
};

/** Of a valid supergraph as a surface sees it, with what its callers see. */
export function factsOf(supergraph: DocumentNode, api: string): SurfaceFacts {
  const valid = { assumeValid: true, assumeValidSDL: true };
  const graph = buildASTSchema(supergraph, valid);
  const visible = Object.values(buildSchema(api, valid).getTypeMap());
  const hidden = visible.filter(
    (type) => !hasMemberId(type) && hasMemberId(graph.getType(type.name)),
  );
  return {
    api,
    subgraphs: [...graphNames(supergraph).values()],
    fields: fieldsOf(graph),
    ownership: ownershipOf(supergraph),
    hiddenMembers: new Set(hidden.map(({ name }) => name)),
    scopes: rootScopesOf(supergraph),
  };
}
