// Points out what a team probably did not mean, and what else a publication changes.
import type { SubgraphEntry } from '@partner-loyalty/gateway/graph/graph.ts';
import { elementsIn, tagsIn } from '@partner-loyalty/gateway/schema/definitions.ts';
import { rootScopesOf, scopeNames, scopeOfTag } from '@partner-loyalty/gateway/schema/scopes.ts';
import { Kind, parse, Source, visit } from 'graphql';
import { located } from './compose.ts';
import type { GraphContent } from './content.ts';
import { federationNames } from './federationnames.ts';
import { joinedGraph } from './joined.ts';
import { listed } from './missing.ts';

export type Notice = { level: 'notice'; coordinate?: string; message: string };

type Published = { entry: SubgraphEntry; sdl: string; file: string };

/** They do not keep anything from being published. */
export function noticesOf(
  before: GraphContent,
  after: GraphContent,
  published: Published,
): Notice[] {
  const { entry, sdl, file } = published;
  const former = before.subgraphs.find(({ name }) => name === entry.name);
  return [
    ...(former !== undefined && former.url !== entry.url
      ? [
          notice(
            undefined,
            `the URL changes from ${former.url ?? 'none'} to ${entry.url ?? 'none'}`,
          ),
        ]
      : []),
    ...changedScopes(before, after),
    ...ignoredDirectives(sdl, file),
    ...fieldNotices(after, entry.name),
  ];
}

function changedScopes(before: GraphContent, after: GraphContent): Notice[] {
  const scopesIn = ({ supergraph }: GraphContent) =>
    rootScopesOf(parse(supergraph, { noLocation: true }));
  const [former, next] = [scopesIn(before), scopesIn(after)];
  const named = (bits: number) => scopeNames(bits).join(' and ') || 'no scope';
  return (['query', 'mutation'] as const).flatMap((kind) =>
    Array.from(next[kind]).flatMap(([field, bits]) => {
      const was = former[kind].get(field);
      if (was === undefined || was === bits) return [];
      const coordinate = `${kind === 'query' ? 'Query' : 'Mutation'}.${field}`;
      return notice(coordinate, `needs ${named(bits)} instead of ${named(was)}`);
    }),
  );
}

const IGNORED: ReadonlyMap<string | undefined, string> = new Map([
  ['cost', 'the gateway computes the cost of an operation without it'],
  ['listSize', 'the gateway computes the cost of an operation without it'],
  ['override', 'its label has no effect: the field stays where it was until the label is removed'],
]);

function ignoredDirectives(sdl: string, file: string): Notice[] {
  const notices: Notice[] = [];
  const typeDefs = parse(new Source(sdl, file));
  const nameOf = federationNames(typeDefs);
  visit(typeDefs, {
    Directive(directive) {
      const name = nameOf(directive.name.value);
      const isLabelled = directive.arguments?.some((each) => each.name.value === 'label');
      const why = name === 'override' && !isLabelled ? undefined : IGNORED.get(name);
      if (why !== undefined)
        notices.push(notice(undefined, located(`@${name} is ignored: ${why}`, [directive])));
    },
  });
  return notices;
}

/** What concerns many fields is one notice. */
function fieldNotices({ supergraph }: GraphContent, name: string): Notice[] {
  const { types } = joinedGraph(supergraph);
  const untagged: string[] = [];
  const nonNull: string[] = [];
  for (const { coordinate, node } of elementsIn(parse(supergraph, { noLocation: true }))) {
    const [typeName = '', field = ''] = coordinate.split('.');
    const type = types.get(typeName);
    const resolvers = type?.fields.get(field)?.resolvers;
    if (node.kind !== Kind.FIELD_DEFINITION || resolvers?.size !== 1 || !resolvers.has(name))
      continue;
    const isSurface = (tag: string) => scopeOfTag(tag) === undefined;
    if (!tagsIn(node.directives).some(isSurface)) untagged.push(coordinate);
    const isShared = type !== undefined && type.keys.length > 0 && type.declaring.size > 1;
    if (isShared && node.type.kind === Kind.NON_NULL_TYPE) nonNull.push(coordinate);
  }
  return [
    ...about(untagged, 'no @tag, so no caller sees it'),
    ...about(nonNull, `never null, so callers get no such object at all while ${name} is away`),
  ];
}

function about(coordinates: readonly string[], what: string): Notice[] {
  return coordinates.length === 0
    ? []
    : [notice(coordinates[0], `${listed(coordinates)}: ${what}`)];
}

function notice(coordinate: string | undefined, message: string): Notice {
  return { level: 'notice', ...(coordinate !== undefined && { coordinate }), message };
}
