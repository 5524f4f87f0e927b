// The settings of single subgraphs, which any subgraph of the graph may have.
import type * as z from 'zod';
import { matching, subgraphUrl } from './schemas.ts';

/** Where a subgraph is and what signs the requests to it, as far as it is set. */
type SubgraphSettings = {
  /** The URL of its endpoint. */
  url?: string | undefined;
  secret?: string | undefined;
  /** The subgraph accepts it too. */
  secretOld?: string | undefined;
};

/** By the beginning of the variables' names: `MEMBERS`. */
type SubgraphVariables = Readonly<
  Record<string, SubgraphSettings & { faults: readonly [name: string, what: string][] }>
>;

type SubgraphRow = {
  suffix: string;
  default: string;
  meaning: string;
  secret?: true;
  schema: z.ZodType<string, string>;
};

/** One row for each variable that a subgraph may have. */
export const SUBGRAPH_SETTINGS: Readonly<Record<keyof SubgraphSettings, SubgraphRow>> = {
  url: {
    suffix: 'URL',
    default: 'in the same process, or else the URL that it was published with',
    meaning:
      'The endpoint of the subgraph with this name; `MEMBERS_URL` is that of members. Without a path, it is `/graphql`. Standings in a process of its own needs `MEMBERS_URL` too: without it, `recordActivities` is `SERVICE_UNAVAILABLE`.',
    schema: subgraphUrl,
  },
  secret: {
    suffix: 'SECRET',
    default: "none; this repository's subgraphs then use `SUBGRAPH_SECRET`",
    meaning:
      'Signs the requests to this subgraph, from the gateway and, to members, from standings; at least 16 characters.',
    secret: true,
    schema: matching(/^.{16,}$/su, 'have at least 16 characters'),
  },
  secretOld: {
    suffix: 'SECRET_OLD',
    default: 'none',
    meaning: 'The previous secret, which the subgraph also accepts while it is being changed.',
    secret: true,
    schema: matching(/^.{16,}$/su, 'have at least 16 characters'),
  },
};

/** The subgraphs of this repository, which share SUBGRAPH_SECRET unless they have their own. */
export const OWN_SUBGRAPHS = ['members', 'standings'] as const;

/** The subgraph that every gateway carries. */
export const GATEWAY_SUBGRAPH = 'gateway';

const BUILT_IN: ReadonlySet<string> = new Set([...OWN_SUBGRAPHS, GATEWAY_SUBGRAPH]);

/** Whether a subgraph is part of the service, and no team's. */
export function isBuiltIn(name: string): boolean {
  return BUILT_IN.has(name);
}

/** The settings that this module reads. */
export type WithSubgraphs = {
  /** Read it with settingsOfSubgraph. */
  subgraphs: SubgraphVariables;
  subgraphSecret?: string | undefined;
  subgraphSecretOld?: string | undefined;
};

const NOT_SET: SubgraphVariables[string] = { faults: [] };

/** The name of a subgraph's variable: `offers-eu` has `OFFERS_EU_URL`. */
export function variableOf(subgraph: string, key: keyof SubgraphSettings): string {
  return `${prefixOf(subgraph)}_${SUBGRAPH_SETTINGS[key].suffix}`;
}

/**
 * The variables of all subgraphs. Other programs have variables with such names too, so a wrong one
 * counts only once there is a subgraph of its name.
 */
export function readSubgraphVariables(
  env: Record<string, string | undefined>,
  otherNames: ReadonlySet<string>,
): SubgraphVariables {
  const variables: Record<string, SubgraphSettings & { faults: [string, string][] }> = {};
  for (const [name, value] of Object.entries(env)) {
    const text = value?.trim() ?? '';
    const parts = /^([A-Z][A-Z0-9_]{0,62}?)_(URL|SECRET_OLD|SECRET)$/.exec(name);
    if (parts === null || text === '' || otherNames.has(name)) continue;
    const [, prefix = '', suffix] = parts;
    variables[prefix] ??= { faults: [] };
    for (const [key, row] of Object.entries(SUBGRAPH_SETTINGS)) {
      if (row.suffix !== suffix) continue;
      const { success, data, error } = row.schema.safeParse(text);
      if (success) variables[prefix] = { ...variables[prefix], [key]: data };
      else variables[prefix].faults.push([name, faultOf(error.issues[0]?.message, row, text)]);
    }
  }
  return variables;
}

/**
 * The settings of a subgraph. A subgraph of this repository without a secret of its own has those
 * that they share. Throws an Error that names the variables if one is wrong.
 */
export function settingsOfSubgraph(settings: WithSubgraphs, name: string): SubgraphSettings {
  const { faults, ...own } = settings.subgraphs[prefixOf(name)] ?? NOT_SET;
  if (faults.length > 0)
    throw new Error(`wrong settings:${faults.map(([key, what]) => `\n  ${key} ${what}`).join('')}`);
  const isOwn = OWN_SUBGRAPHS.some((each) => each === name);
  if (own.secret !== undefined || !isOwn) return own;
  const { subgraphSecret: secret, subgraphSecretOld: secretOld } = settings;
  return { ...own, secret, secretOld };
}

/** Names the text, unless it is a secret. */
export function faultOf(what = 'is wrong', { secret }: { secret?: true }, text: string): string {
  return secret ? what : `${what}, but is ${JSON.stringify(text.slice(0, 100))}`;
}

function prefixOf(subgraph: string): string {
  return subgraph.toUpperCase().replaceAll('-', '_');
}
