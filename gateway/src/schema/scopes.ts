// The scopes of partner keys, and those that each root field needs by its tags in the graph.
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  Kind,
  type ObjectTypeDefinitionNode,
} from 'graphql';
import { tagsIn } from './definitions.ts';

/** What a key may be allowed to do, as bits of a set. */
const BITS = { read: 1, enroll: 2, 'sign-in': 4, ingest: 8 } as const;
/** In the sets of fields whose tag names an unknown scope: no key has it. */
const UNKNOWN_SCOPE = 16;
/** What every key may do in a sandbox, and none in production. */
export const SANDBOX_SCOPE: ScopeBits = 32;

const BITS_OF_TAG = { ...BITS, none: 0, sandbox: SANDBOX_SCOPE, unknown: UNKNOWN_SCOPE };

export type KeyScope = keyof typeof BITS;

export const SCOPE_MEANINGS: Readonly<Record<KeyScope, string>> = {
  read: 'Read members, lists and events, and introspect the schema',
  enroll: 'Enroll and invite members, and change or end enrollments',
  'sign-in': 'Mail sign-in links, and exchange them for ID tokens',
  ingest: 'Record activities',
};

export type ScopeBits = number;

// Cast: Object.keys loses the names.
export const KEY_SCOPES = Object.keys(BITS) as readonly KeyScope[];

/** The scopes of a key that was created without any. */
export const DEFAULT_SCOPES: readonly KeyScope[] = ['read', 'enroll', 'sign-in'];

/** The set for callers without a key: scopes do not limit them. */
export const EVERY_SCOPE: ScopeBits = -1;

/** What introspection needs, and queries without a tag of their own. */
export const READ_SCOPE: ScopeBits = BITS.read;
/** What mutations without a tag of their own need. */
const WRITE_SCOPE: ScopeBits = BITS.enroll;

export function scopeBits(scopes: readonly KeyScope[]): ScopeBits {
  // A stored name could be that of a later version's scope, which adds nothing.
  return scopes.reduce((bits, scope) => bits | (BITS[scope] ?? 0), 0);
}

export function scopeNames(bits: ScopeBits): KeyScope[] {
  return KEY_SCOPES.filter((scope) => (bits & BITS[scope]) !== 0);
}

/** The tag by which a root field names the scope that it needs: `scope-enroll`. */
const SCOPE_TAG = 'scope-';

/**
 * Whether a tag has the form of one that names a scope, and whether there is such a scope. `none`
 * is for a root field that every key may use, and `sandbox` for one that production refuses.
 */
export function scopeOfTag(tag: string): KeyScope | 'none' | 'sandbox' | 'unknown' | undefined {
  if (!tag.startsWith(SCOPE_TAG)) return undefined;
  const name = tag.slice(SCOPE_TAG.length);
  if (name === 'none' || name === 'sandbox') return name;
  return KEY_SCOPES.find((scope) => scope === name) ?? 'unknown';
}

/** What the visible root fields need, by operation type and field. */
export type RootScopes = Readonly<Record<'query' | 'mutation', ReadonlyMap<string, ScopeBits>>>;

/** Reads the tags of a supergraph, in which hidden fields are `@inaccessible`. */
export function rootScopesOf({ definitions }: DocumentNode): RootScopes {
  return {
    query: scopesOfFields(definitions, 'Query', READ_SCOPE),
    mutation: scopesOfFields(definitions, 'Mutation', WRITE_SCOPE),
  };
}

function scopesOfFields(
  definitions: readonly DefinitionNode[],
  typeName: string,
  otherwise: ScopeBits,
): ReadonlyMap<string, ScopeBits> {
  const type = definitions.find(
    (node): node is ObjectTypeDefinitionNode =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION && node.name.value === typeName,
  );
  const visible = (type?.fields ?? []).filter(
    ({ directives = [] }) => !directives.some((each) => each.name.value === 'inaccessible'),
  );
  return new Map(
    visible.map(({ name, directives = [] }) => [name.value, taggedScopes(directives) ?? otherwise]),
  );
}

/** Undefined without such a tag. */
function taggedScopes(directives: readonly ConstDirectiveNode[]): ScopeBits | undefined {
  let bits: ScopeBits | undefined;
  for (const tag of tagsIn(directives)) {
    const scope = scopeOfTag(tag);
    if (scope !== undefined) bits = (bits ?? 0) | BITS_OF_TAG[scope];
  }
  return bits;
}
