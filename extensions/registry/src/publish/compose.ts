// Composes a supergraph from the schemas of its subgraphs, offline.
import { readFileSync } from 'node:fs';
import { composeServices } from '@apollo/composition';
import { readSupergraphConfig } from '@partner-loyalty/gateway/graph/config.ts';
import { datedSdl } from '@partner-loyalty/gateway/schema/dated.ts';
import {
  argumentsOf,
  elementsIn,
  namedType,
  tagsIn,
} from '@partner-loyalty/gateway/schema/definitions.ts';
import { KEY_SCOPES, scopeOfTag } from '@partner-loyalty/gateway/schema/scopes.ts';
import { SURFACES } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { type ASTNode, type DocumentNode, GraphQLError, Kind, parse, Source, visit } from 'graphql';
import { CompositionError } from './faults.ts';
import { federationNames } from './federationnames.ts';
import { conflictingRequirements, newlyUnsupported, unsupportedIn } from './unsupported.ts';

type SubgraphSource = {
  name: string;
  url?: string | undefined;
  sdl: string;
  /** The name of the SDL in faults. */
  file: string;
  /** What is published already. */
  former?: string | undefined;
};

/** The most places of a fault; the others are left out. */
const MAX_PLACES = 3;

/**
 * The supergraph SDL, tags included, of the subgraphs in supergraph.yaml. What is deprecated in
 * `former` keeps its dates. Throws as composeSupergraph does, and an error if a file cannot be read
 * or the YAML is wrong.
 */
export function compose(configFile: string, former?: string): string {
  const supergraph = composeSupergraph(
    readSupergraphConfig(configFile).map(({ name, url, schemaFile }) => ({
      name,
      url,
      sdl: readFileSync(schemaFile, 'utf8'),
      file: schemaFile,
    })),
  );
  return datedSdl(supergraph, new Date(), former);
}

/**
 * The supergraph SDL, tags included. Throws a CompositionError with every fault: syntax errors,
 * schemas that do not compose, tags that name no surface or scope or are not on fields, and what
 * gateways do not support.
 */
export function composeSupergraph(sources: readonly SubgraphSource[]): string {
  const parsed = sources.map(parseSource);
  const faults = parsed.flatMap(({ fault }) => fault ?? []);
  if (faults.length > 0) throw new CompositionError(faults);
  const services = parsed.flatMap(({ service }) => service ?? []);
  const documents = services.map(({ typeDefs }) => typeDefs);
  const unsupported = [
    ...documents.flatMap(unsupportedIn),
    ...services.flatMap(({ typeDefs, former }) => newlyUnsupported(typeDefs, former)),
    ...conflictingRequirements(documents),
  ];
  const refused = [
    ...unsupported.map(({ message, node }) => located(message, [node])),
    ...documents.flatMap(misplacedTags),
  ];
  if (refused.length > 0) throw new CompositionError(refused);
  const { supergraphSdl, errors } = composed(services);
  if (errors !== undefined || supergraphSdl === undefined)
    throw new CompositionError(
      errors?.map((error) => located(error.message, error.nodes)) ?? ['nothing to compose'],
    );
  if (/[^\P{Cc}\n\r\t]/u.test(supergraphSdl))
    throw new CompositionError(['a description or another text has control characters']);
  const document = parse(supergraphSdl, { noLocation: true });
  const misplaced = [
    ...scopedFieldsBelowRoot(document).map(
      (field) => `a @tag on ${field} names a scope, which only root fields have`,
    ),
    ...leadingToRoots(document).map(
      (place) => `${place} leads to Query or Mutation, whose fields only operations begin with`,
    ),
  ];
  if (misplaced.length > 0) throw new CompositionError(misplaced);
  return `${supergraphSdl.trimEnd()}\n`;
}

/** Apollo's library throws at what it does not expect, such as a type named `join__FieldSet`. */
function composed(services: Parameters<typeof composeServices>[0]) {
  try {
    return composeServices(services);
  } catch (error) {
    throw new CompositionError([`the schemas do not compose: ${String(error)}`]);
  }
}

function parseSource({ name, url, sdl, file, former }: SubgraphSource) {
  try {
    const typeDefs = parse(new Source(sdl, file));
    const known = former === sdl ? typeDefs : former && parse(former, { noLocation: true });
    return { service: { name, url: url ?? '', typeDefs, former: known || undefined } };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const { line, column } = error.locations?.[0] ?? { line: 1, column: 1 };
    return { fault: `${file}:${line}:${column}: ${error.message}` };
  }
}

// A misspelt tag would silently hide a field, and a tag on a type would show the fields that other
// subgraphs add to it.
function misplacedTags(typeDefs: DocumentNode): string[] {
  const faults: string[] = [];
  const nameOf = federationNames(typeDefs);
  visit(typeDefs, {
    Directive(tag, _key, _parent, _path, ancestors) {
      if (nameOf(tag.name.value) !== 'tag') return;
      const owner = ancestors.findLast((node): node is ASTNode => 'kind' in node);
      const place =
        owner !== undefined && 'name' in owner && owner.name !== undefined
          ? owner.name.value
          : 'the schema';
      if (owner?.kind !== Kind.FIELD_DEFINITION)
        faults.push(located(`@tag is on ${place}, but belongs on fields only`, [tag]));
      const [{ name: given } = {}] = argumentsOf([tag], tag.name.value);
      const name = String(given);
      const scope = scopeOfTag(name);
      if (scope === 'unknown')
        faults.push(
          located(`the @tag on ${place} names no scope: ${KEY_SCOPES.join(', ')}`, [tag]),
        );
      else if (scope === undefined && !Object.hasOwn(SURFACES, name))
        faults.push(located(`the @tag on ${place} names no surface`, [tag]));
    },
  });
  return faults;
}

/** Their tags would protect nothing. */
function scopedFieldsBelowRoot(supergraph: DocumentNode): string[] {
  return Array.from(elementsIn(supergraph))
    .filter(({ node }) => tagsIn(node.directives).some((tag) => scopeOfTag(tag) !== undefined))
    .map(({ coordinate }) => coordinate)
    .filter((coordinate) => !/^(Query|Mutation)\./.test(coordinate));
}

/** Below them, root fields would have no scopes and no cost, and queries would have mutations. */
function leadingToRoots({ definitions }: DocumentNode): string[] {
  const isRoot = (name: string) => name === 'Query' || name === 'Mutation';
  return definitions.flatMap((node) => {
    if (node.kind === Kind.UNION_TYPE_DEFINITION)
      return node.types?.some(({ name }) => isRoot(name.value)) ? [node.name.value] : [];
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.INTERFACE_TYPE_DEFINITION)
      return [];
    const { name, fields = [], interfaces = [] } = node;
    const implemented = isRoot(name.value) ? interfaces : [];
    return [
      ...implemented.map((one) => one.name.value),
      ...fields
        .filter(({ type }) => isRoot(namedType(type)))
        .map((field) => `${name.value}.${field.name.value}`),
    ];
  });
}

/** `offers.graphql:3:1: …` */
export function located(message: string, nodes: readonly ASTNode[] = []): string {
  const places = nodes.flatMap(({ loc }) => {
    if (loc === undefined) return [];
    const { line, column } = loc.startToken;
    return `${loc.source.name}:${line}:${column}`;
  });
  const shown = [...new Set(places)].slice(0, MAX_PLACES);
  return shown.length === 0 ? message : `${shown.join(', ')}: ${message}`;
}
