// What the registry shows: the versions, one of them, what waits for approval, and who asks.
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { subgraphOf } from './history.ts';
import { approversOf, pendingProposals } from './proposals.ts';
import { committedContent } from './publish/content.ts';
import { type Publisher, type Run, refuse } from './request.ts';

/** Older ones are not listed, but kept, and shown by their numbers. */
const MAX_VERSIONS = 200;
/** A subgraph, its name and its URL, as the composer writes them. */
const JOINED = /^( *\w+ @join__graph\(name: "([^"\n]*)", url: )"(?:[^"\\\n]|\\.)*"\)$/gm;

export const list: Run<'list'> = async ({ store }) => {
  const versions = await store.history(MAX_VERSIONS);
  const lines =
    versions.length > 0
      ? []
      : ['nothing is published: gateways serve the committed gateway/supergraph.graphql'];
  const rows = versions.map(({ version, publishedAt, change, counts, ...by }) => {
    const { owner, tokenId, commit, message } = by;
    const subgraph = subgraphOf(change);
    const who = { subgraph, owner, tokenId, commit, message };
    return omitUndefined({ version, publishedAt, change, ...who, ...counts });
  });
  return { lines, result: rows };
};

export const pending: Run<'pending'> = async ({ store }, publisher) => {
  const found = await pendingProposals(await store.tables());
  const rows = found.map(({ proposalId, subgraph, owner, needs, expiresAt }) => {
    const shown = needs.map((need) => {
      const what = shownNeed(need, subgraph, publisher);
      return { what, losing: need.losing, approvers: approversOf(need) };
    });
    const expires = { expiresAt: new Date(expiresAt) };
    return omitUndefined({ proposalId, subgraph, owner, needs: shown, ...expires });
  });
  return { lines: rows.length > 0 ? [] : ['nothing waits for approval'], result: rows };
};

/** What a subgraph's change touches, without its URL for other teams. */
export function shownNeed({ rule, what }: Need, subgraph: string, publisher: Publisher): string {
  const hides = publisher.kind === 'team' && publisher.subgraph !== subgraph && rule === 'url';
  return hides ? `${subgraph} would be at another address` : what;
}

export const show: Run<'show'> = async ({ store }, publisher, { version: given }) => {
  const version = given ?? (await store.latest());
  const found =
    version === 0
      ? { version, change: 'the committed graph', ...committedContent() }
      : await store.version(version);
  if (found === undefined) return refuse(`there is no version ${version}`);
  const { subgraphs } = found;
  if (publisher.kind === 'operator') return { result: found };
  const isOthers = ({ name }: { name: string }) => name !== publisher.subgraph;
  const supergraph = found.supergraph.replace(JOINED, (line, start, name) =>
    isOthers({ name }) ? `${start}"")` : line,
  );
  const shown = subgraphs.map((entry) => {
    const { url: _, ...rest } = entry;
    return isOthers(entry) ? rest : entry;
  });
  return { result: { ...found, subgraphs: shown, supergraph } };
};

/** Describes the caller's token and its expiry. */
export const whoami: Run<'whoami'> = async ({ store }, publisher) => {
  if (publisher.kind === 'operator')
    return refuse('whoami is for teams: set LOYALTY_REGISTRY and LOYALTY_SUBGRAPH_TOKEN');
  const { tokenId, subgraph, owner } = publisher;
  const row = await (await store.tables()).tokens.get(tokenId);
  return { result: { tokenId, subgraph, owner, expiresAt: new Date(row?.expiresAt ?? 0) } };
};
