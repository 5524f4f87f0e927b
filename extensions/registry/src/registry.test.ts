// Changes to a subgraph: proposed, approved, taken back.

import type { GraphStore } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need, RegistryTables } from '@partner-loyalty/gateway/graph/tables.ts';
import { openGraphStore } from '@partner-loyalty/gateway/stores.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { versionBefore } from './history.ts';
import {
  approveProposal,
  digestOf,
  endProposals,
  keepProposal,
  openNeeds,
  pendingProposals,
} from './proposals.ts';
import { committedContent, contentOf } from './publish/content.ts';
import { runOperation } from './registry.ts';
import type { Publisher } from './request.ts';
import {
  createToken,
  findToken,
  listTokens,
  MAX_TOKEN_LIFETIME_MS,
  revokeToken,
  rotateToken,
} from './tokens.ts';

// What a rollback of a subgraph brings back, from the changes that versions name.

const before = (name: string, changes: string) =>
  versionBefore(
    name,
    changes
      .split(', ')
      .map((change, index) => ({ version: index + 1, change }))
      .toReversed(),
  );

test.each<[string, changes: string, version: number | undefined]>([
  ['nothing, if the subgraph was never published', 'publish other', undefined],
  ['the graph before its first publication', 'publish other, publish offers', 1],
  ['the committed graph, if that was the first', 'publish offers', 0],
  ['the one before, whoever came since', 'publish offers, publish offers, publish other', 1],
  ['what was before a removal', 'publish offers, remove offers', 1],
  ['the removal, after a new beginning', 'publish offers, remove offers, publish offers', 2],
  [
    'nothing that was rolled back from',
    'publish offers, publish offers, rollback offers, publish offers',
    1,
  ],
  ['one earlier', 'publish offers, publish offers, publish offers, rollback offers', 1],
  [
    'nothing, once all is rolled back',
    'publish offers, publish offers, rollback offers, rollback offers',
    undefined,
  ],
  [
    'what the whole graph had when it went back',
    'publish offers, publish offers, publish offers, rollback to 2',
    1,
  ],
  [
    'nothing, once the whole graph is the committed one',
    'publish offers, rollback to 0',
    undefined,
  ],
])('a rollback brings back %s', (_what, changes, version) => {
  expect(before('offers', changes)).toBe(version);
});

test('a subgraph may be called like a word of a change', () => {
  expect(before('to', 'publish to, publish to, rollback to')).toBe(0);
});

// Tokens, and who may approve what.

const DAY_MS = 86_400_000;
const OPERATOR: Publisher = { kind: 'operator' };

const resolves = (...losing: string[]): Need => ({
  rule: 'resolves',
  what: `T.f would be resolved by offers instead of ${losing}`,
  losing,
});
const MOVES: Need = { rule: 'url', what: 'offers would be at another address', losing: [] };

describe('on the embedded store', () => {
  let store: GraphStore;
  let tables: RegistryTables;
  let release: () => unknown;

  beforeEach(async () => {
    const place = emptyPlace();
    release = place.release;
    store = await openGraphStore({ ...place.settings, environment: 'sandbox' });
    tables = await store.tables();
  });
  afterEach(async () => {
    await store.close();
    await release();
  });

  const issue = (subgraph: string, owner = `${subgraph}-team`) =>
    createToken(tables, { subgraph, owner, lifetimeMs: MAX_TOKEN_LIFETIME_MS });
  const team = async (subgraph: string, owner?: string) => {
    const { token: _, expiresAt: __, ...issued } = await issue(subgraph, owner);
    return { kind: 'team', ...issued } as const;
  };
  const find = (text: string) => findToken((tokenId) => tables.tokens.get(tokenId), text);
  const open = (publisher: Publisher, needs: Need[], content: unknown = 'content') =>
    openNeeds(tables, publisher, { digest: digestOf(content), needs });
  const propose = (publisher: Publisher, needs: Need[], content: unknown = 'content') =>
    keepProposal(tables, publisher, { subgraph: 'offers', digest: digestOf(content), needs });

  test('a token is found by its text alone, until it expires or is revoked', async () => {
    const { token, tokenId } = await issue('offers');
    expect(await find(token)).toMatchObject({ tokenId, subgraph: 'offers', owner: 'offers-team' });
    const other = (await issue('offers')).token;
    for (const wrong of ['', 'st_', tokenId, `${token}x`, token.slice(0, -1), `x${token}`])
      expect(await find(wrong)).toBeUndefined();
    await tables.tokens.update(tokenId, (row) => row && { ...row, expiresAt: Date.now() });
    expect(await find(token)).toBeUndefined();
    expect(await find(other)).toBeDefined();
    expect((await listTokens(tables)).map(({ state }) => state)).toEqual(['expired', 'active']);
    expect(JSON.stringify(await tables.tokens.select(() => true))).not.toContain(token.slice(3));
  });

  test('a rotated token works for a day, and a revoked one no more', async () => {
    const { token, tokenId } = await issue('offers');
    const next = await rotateToken(tables, tokenId);
    if (typeof next !== 'object') throw new Error(next);
    expect(next).toMatchObject({ subgraph: 'offers', owner: 'offers-team' });
    expect(next.expiresAt.getTime()).toBeGreaterThan(Date.now() + 365 * DAY_MS);
    const former = await find(token);
    expect(former?.expiresAt).toBeLessThanOrEqual(Date.now() + DAY_MS);
    expect(await revokeToken(tables, next.tokenId)).toMatchObject({ tokenId: next.tokenId });
    expect(await find(next.token)).toBeUndefined();
    expect(await rotateToken(tables, next.tokenId)).toBe('revoked');
    expect(await rotateToken(tables, 'token_0')).toBeUndefined();
    expect(await revokeToken(tables, 'token_0')).toBeUndefined();
  });

  test('a proposal whose names nobody can read is refused, and not kept', async () => {
    const long = resolves(`x${'y'.repeat(70_000)}`);
    await expect(propose(await team('offers'), [long])).rejects.toThrow('more than anybody can');
    expect(await pendingProposals(tables)).toEqual([]);
  });

  test('an approval counts for a time that is measured again, up to half as much again', async () => {
    const offers = await team('offers');
    const measured = (ms: number, rule: Need['rule'] = 'size'): Need => ({
      ...{ rule, what: `takes ${ms}`, losing: [], ms },
    });
    const { proposalId } = await propose(offers, [measured(8_000)]);
    await approveProposal(tables, OPERATOR, proposalId);
    expect(await open(offers, [measured(12_000)])).toEqual([]);
    expect(await open(offers, [measured(12_001)])).toHaveLength(1);
    expect(await open(offers, [measured(8_000), MOVES])).toHaveLength(2);
    const { ms: _, ...unmeasured } = measured(8_000);
    expect(await open(offers, [unmeasured])).toHaveLength(1);
  });

  test('a graph that takes long to compose needs an operator, and its version says how long', async () => {
    const cubes = Array.from({ length: 40 }, (_, n) => `type T${n} implements I { a: I b: I }`);
    const sdl = `${committedContent().schemas.standings} interface I { a: I b: I } ${cubes.join(' ')}`;
    const body = { name: 'standings', sdl, file: 'standings.graphql', init: true };
    const parts = { settings: readSettings({}, 'all'), store, usage: async () => [], audit() {} };
    const run = async (operation: 'check' | 'publish', ms: number, approve = false) => {
      const by = approve ? OPERATOR : await team('standings');
      const request = operation === 'check' ? body : { ...body, approve };
      return runOperation({ ...parts, mostCosts: { ms, mb: 100 } }, by, { operation, ...request });
    };
    expect(await run('check', Number.POSITIVE_INFINITY)).toMatchObject({ result: {} });
    const what =
      /needs? approval: with this schema of standings, each step of every team would take CPU for \d+\.\d s, over 0\.0 s \(approved by an operator\)/;
    const refused = { refused: expect.stringMatching(what) };
    expect(await run('check', 0)).toMatchObject(refused);
    expect(await run('publish', 0)).toMatchObject(refused);
    const pending = await pendingProposals(tables);
    expect(pending).toMatchObject([{ owner: 'standings-team' }]);
    const [proposed] = pending[0]?.needs ?? [];
    expect(await run('publish', 0, true)).toMatchObject({ result: { version: 1 } });
    const { took } = await contentOf(store, 1);
    expect(took).toMatchObject({
      ms: expect.any(Number),
      mb: expect.any(Number),
      approvedMs: proposed?.ms,
    });
  });

  test('what touches others is open until each of them has approved it', async () => {
    const [offers, bookings, spa] = [
      await team('offers'),
      await team('bookings'),
      await team('spa'),
    ];
    const needs = [resolves('bookings', 'spa'), resolves('spa')];
    expect(await open(offers, needs)).toEqual(needs);
    const { proposalId } = await propose(offers, needs);
    expect((await approveProposal(tables, bookings, proposalId)).open).toEqual(needs);
    expect((await approveProposal(tables, spa, proposalId)).open).toEqual([]);
    expect(await open(offers, needs)).toEqual([]);
  });

  test('an operator approves all of it', async () => {
    const offers = await team('offers');
    const needs = [resolves('bookings'), MOVES, resolves('members')];
    const { proposalId } = await propose(offers, needs);
    expect(await open(offers, needs)).toEqual(needs);
    expect((await approveProposal(tables, OPERATOR, proposalId)).open).toEqual([]);
    expect(await open(offers, needs)).toEqual([]);
  });

  test('nobody approves what is the operator’s: another address, or what is built in', async () => {
    const offers = await team('offers');
    const members = await team('members', 'somebody');
    for (const need of [MOVES, resolves('members'), resolves('members', 'spa')]) {
      const { proposalId } = await propose(offers, [need], need);
      await expect(approveProposal(tables, members, proposalId)).rejects.toThrow(
        /only an operator|takes nothing from/,
      );
      expect(await open(offers, [need], need)).toEqual([need]);
    }
  });

  test('a publisher cannot approve its own proposal, with whatever token it has', async () => {
    const offers = await team('offers', 'Team A');
    await team('bookings', 'B');
    const needs = [resolves('bookings')];
    const { proposalId } = await propose(offers, needs);
    const tries = [offers, await team('bookings', 'team a'), await team('spa', 'C')];
    for (const one of tries)
      await expect(approveProposal(tables, one, proposalId)).rejects.toThrow();
    expect(await open(offers, needs)).toEqual(needs);
  });

  test('a team that has approved for one of several owners cannot publish it itself', async () => {
    const [offers, own] = [await team('offers', 'A'), await team('offers', 'B')];
    const bookings = await team('bookings', 'B');
    await team('bookings', 'C');
    const needs = [resolves('bookings')];
    const { proposalId } = await propose(offers, needs);
    await approveProposal(tables, bookings, proposalId);
    expect(await open(offers, needs)).toEqual([]);
    expect(await open(own, needs)).toEqual(needs);
  });

  test('a team needs no approval of what another subgraph of its own loses', async () => {
    const offers = await team('offers', 'A');
    await team('bookings', 'A');
    expect(await open(offers, [resolves('bookings')])).toEqual([]);
    const { tokenId } = await team('bookings', 'B');
    expect(await open(offers, [resolves('bookings')])).toHaveLength(1);
    await revokeToken(tables, tokenId);
    expect(await open(offers, [resolves('bookings')])).toEqual([]);
  });

  test('an approval by a token that was stolen ends when the token is revoked', async () => {
    const [offers, bookings] = [await team('offers'), await team('bookings')];
    const needs = [resolves('bookings')];
    const { proposalId } = await propose(offers, needs);
    await approveProposal(tables, bookings, proposalId);
    await revokeToken(tables, bookings.tokenId);
    expect(await open(offers, needs)).toEqual(needs);
  });

  test('an approval is of no use for other content, for more than it named, or twice', async () => {
    const [offers, bookings] = [await team('offers'), await team('bookings')];
    const needs = [resolves('bookings')];
    const { proposalId } = await propose(offers, needs);
    await approveProposal(tables, bookings, proposalId);
    expect(await open(offers, needs, 'other content')).toEqual(needs);
    const more = [...needs, { ...resolves('bookings'), what: 'T.g too' }];
    expect(await open(offers, more)).toEqual(more);
    expect(await open(offers, needs)).toEqual([]);
    const other = await propose(offers, more);
    expect(await open(offers, needs)).toEqual(needs);
    await expect(approveProposal(tables, bookings, proposalId)).rejects.toThrow('no proposal');
    await approveProposal(tables, bookings, other.proposalId);
    expect(await open(offers, needs)).toEqual([]);
    await endProposals(tables, digestOf('content'));
    expect(await open(offers, needs)).toEqual(needs);
  });

  test('a proposal and its approvals end after 7 days', async () => {
    const [offers, bookings] = [await team('offers'), await team('bookings')];
    const needs = [resolves('bookings')];
    const { proposalId, expiresAt } = await propose(offers, needs);
    expect(expiresAt).toBeGreaterThan(Date.now() + 6.9 * DAY_MS);
    expect(await pendingProposals(tables)).toHaveLength(1);
    await approveProposal(tables, bookings, proposalId);
    await tables.proposals.update(
      proposalId,
      (row) =>
        row && {
          ...row,
          approvals: row.approvals.map((each) => ({ ...each, at: each.at - 7 * DAY_MS })),
        },
    );
    expect(await open(offers, needs)).toEqual(needs);
    await approveProposal(tables, bookings, proposalId);
    expect(await open(offers, needs)).toEqual([]);
    await tables.proposals.update(proposalId, (row) => row && { ...row, expiresAt: Date.now() });
    expect(await open(offers, needs)).toEqual(needs);
    expect(await pendingProposals(tables)).toEqual([]);
    await expect(approveProposal(tables, bookings, proposalId)).rejects.toThrow(
      'there is no proposal',
    );
  });

  test('a flood of proposals leaves the latest 20 of a subgraph, and those of others', async () => {
    const bookings = await team('bookings');
    await keepProposal(tables, bookings, {
      subgraph: 'bookings',
      digest: digestOf('theirs'),
      needs: [MOVES],
    });
    const offers = await team('offers');
    for (let n = 0; n < 25; n += 1) await propose(offers, [MOVES], n);
    const subgraphs = (await pendingProposals(tables)).map(({ subgraph }) => subgraph);
    expect(subgraphs.filter((name) => name === 'offers')).toHaveLength(20);
    expect(subgraphs).toContain('bookings');
    const many = Array.from({ length: 201 }, (_, n) => ({ ...MOVES, what: `${n}` }));
    await expect(propose(offers, many)).rejects.toThrow('touches 201 things');
  });
});
