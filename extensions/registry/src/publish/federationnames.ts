// Distinguishes federation's directives in the schema of a subgraph from the subgraph's own.
import { type ConstDirectiveNode, type DocumentNode, Kind, valueFromASTUntyped } from 'graphql';

/** The name that Apollo's specifications have for a directive; undefined for a subgraph's own. */
export type NameOf = (name: string) => string | undefined;

/**
 * Reads the `@link`s of a schema (link specification 1.0). A directive that is neither imported nor
 * defined is taken for federation's.
 */
export function federationNames({ definitions }: DocumentNode): NameOf {
  const imported = new Map<string, string>();
  const prefixes: string[] = [];
  const own = new Set<string>();
  for (const node of definitions) {
    if (node.kind === Kind.DIRECTIVE_DEFINITION) own.add(node.name.value);
    if (node.kind !== Kind.SCHEMA_DEFINITION && node.kind !== Kind.SCHEMA_EXTENSION) continue;
    for (const { spec, as = spec, imports } of (node.directives ?? []).flatMap(linkIn)) {
      prefixes.push(`${as}__`);
      for (const [name, local] of imports) imported.set(local, name);
    }
  }
  // Composition takes every `@tag` for federation's, whoever has defined it.
  own.delete('tag');
  return (name) => {
    const prefix = prefixes.find((each) => name.startsWith(each));
    if (prefix !== undefined) return name.slice(prefix.length);
    return imported.get(name) ?? (own.has(name) ? undefined : name);
  };
}

type Link = {
  spec: string;
  as?: string;
  imports: (readonly [name: string, local: string])[];
};

function linkIn({ name, arguments: args = [] }: ConstDirectiveNode): Link[] {
  const given = Object.fromEntries(
    args.map((each) => [each.name.value, valueFromASTUntyped(each.value)]),
  );
  // The composer finds the same in `HTTPS://specs%2Eapollo.dev/…`.
  const url = String(given.url);
  const { origin, pathname } = new URL(URL.canParse(url) ? url : 'about:blank');
  const [, spec] = /^https:\/\/specs\.apollo\.dev\/(\w+)\//.exec(origin + pathname) ?? [];
  if (name.value !== 'link' || spec === undefined) return [];
  const imports = [given.import ?? []].flat().map((each: unknown) => {
    // Composition refuses anything else.
    const { name: theirs, as = theirs } = typeof each === 'string' ? { name: each } : Object(each);
    return [withoutAt(theirs), withoutAt(as)] as const;
  });
  return [{ spec, imports, ...(typeof given.as === 'string' && { as: given.as }) }];
}

function withoutAt(name: unknown): string {
  return String(name).replace(/^@/, '');
}
