// Checks and makes changes to the graph: each is assessed, then refused or appended.

import type { GraphVersion, LevelCounts } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { dayOf } from '@partner-loyalty/gateway/schema/dates.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { subgraphOf } from './history.ts';
import {
  approversOf,
  endProposals,
  isSameOwner,
  keepProposal,
  openNeeds,
  withApprovedCosts,
} from './proposals.ts';
import { assess, publisherOf } from './publish/assess.ts';
import type { Assessment, Step } from './publish/assessment.ts';
import { contentOf, type GraphContent } from './publish/content.ts';
import { UnservedError } from './publish/faults.ts';
import { type CheckedChange, type UsedBy, withUsage } from './publish/inuse.ts';
import { listed } from './publish/missing.ts';
import { costNeeds, sizeNeeds, tookOf } from './publish/size.ts';
import { type Outcome, type Publisher, Refusal, type Registry, refuse, whoIs } from './request.ts';
import { requireActive } from './tokens.ts';

/** What is to be done to the graph as it is now. */
export type Plan = {
  /** The change as versions name it: `publish offers`. */
  change: string;
  step: Step;
  /** Stands for the content that an approval is for. */
  digest: string;
  force?: boolean | undefined;
  approve?: boolean | undefined;
  /** Asks the subgraph whether it can serve it. Resolves with lines for the publisher. */
  ask?: () => Promise<string[]>;
  about?: Pick<GraphVersion, 'commit' | 'message'>;
};

/** The graph as it is now; version 0 if none is published. */
export type Current = {
  version: number;
  /** The newest version that gateways can serve. */
  base: number;
  before: GraphContent;
};

const MAX_TRIES = 10;
const USAGE_DAYS = 30;
const HOUR_MS = 3_600_000;
const MAX_HOURLY = 60;
/** Of all subgraphs; an hour rarely has more. */
const MAX_RECENT = 200;
const DAY_MS = 86_400_000;
/** In bytes. A document of MongoDB has at most 16 MiB. */
const MAX_GRAPH_BYTES = 15 * 1_000_000;

/**
 * Adds a version with the change that `plan` makes to the current graph. `plan` is called again if
 * somebody else has published in the meantime. If there is nothing to do, it resolves with an
 * Outcome, and so does this. Rejects with a Refusal, CompositionError or TooLargeError.
 */
export async function changeGraph(
  registry: Registry,
  publisher: Publisher,
  plan: (current: Current) => Promise<Plan | Outcome>,
): Promise<Outcome> {
  await requireFewVersions(registry, publisher);
  let asked: Promise<string[]> | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const outcome = await fromServed(registry.store, async (current) => {
      const { version, base } = current;
      const planned = await plan(current);
      if (!('step' in planned)) return planned;
      const sizes = await sizesOf(registry, publisher, planned.step);
      await refuseUnapproved(registry, publisher, planned, { needs: sizes });
      const assessed = await assessStep(registry, planned.step, sizes);
      const { changes, notices } = assessed;
      return orRefused({ changes, notices }, async () => {
        refuseHarmful(publisher, planned, assessed);
        await refuseUnapproved(registry, publisher, planned, assessed);
        asked ??= planned.ask?.();
        const lines = [...((await asked) ?? [])];
        if (base < version) lines.push(`no gateway can serve what is newer than version ${base}`);
        const result = await append(registry, publisher, { version, planned, assessed });
        if (result === undefined || base === version)
          return result && { changes, notices, lines, result };
        const others = await registry.store.history(version - base + 1);
        const leftOut = others.slice(1).map((each) => `${each.change} (version ${each.version})`);
        return { changes, notices, lines, result: { ...result, leftOut: leftOut.join(', ') } };
      });
    });
    if (outcome !== undefined) return outcome;
  }
  return refuse('somebody else has published a version each time; try again');
}

/** Throws RATE_LIMITED if a team's subgraph has changed too often: every version is kept. */
async function requireFewVersions({ store }: Registry, publisher: Publisher): Promise<void> {
  if (publisher.kind === 'operator') return;
  const since = Date.now() - HOUR_MS;
  const recent = (await store.history(MAX_RECENT)).filter(
    ({ publishedAt, change, owner }) =>
      owner !== undefined &&
      subgraphOf(change) === publisher.subgraph &&
      publishedAt.getTime() > since,
  );
  const oldest = recent[MAX_HOURLY - 1];
  if (oldest === undefined) return;
  const retryAfter = Math.ceil((oldest.publishedAt.getTime() - since) / 1_000);
  fail('RATE_LIMITED', `${publisher.subgraph} has changed ${MAX_HOURLY} times within an hour`, {
    retryAfter,
  });
}

/**
 * Works on the newest version or, while gateways cannot serve that, on the one before: such a
 * version keeps nobody from publishing the next.
 */
export async function fromServed<T>(
  store: Registry['store'],
  work: (current: Current) => Promise<T>,
): Promise<T> {
  const version = await store.latest();
  for (let base = version; ; base -= 1)
    try {
      return await work({ version, base, before: await contentOf(store, base) });
    } catch (error) {
      if (!(error instanceof UnservedError) || base === 0) throw error;
    }
}

/** What a change would do; refused as its publication would be. */
export async function checkChange(
  registry: Registry,
  publisher: Publisher,
  planned: Plan,
  strict = false,
): Promise<Outcome> {
  const { digest } = planned;
  async function refuseOpen(needs: readonly Need[]): Promise<void> {
    const open = await openNeeds(await registry.store.tables(), publisher, { digest, needs });
    if (open.length > 0) refuse(`publishing it needs approval: ${open.map(inWords).join('; ')}`);
  }
  const sizes = await sizesOf(registry, publisher, planned.step);
  await refuseOpen(sizes);
  const { changes, notices, policyFaults, needs } = await assessStep(registry, planned.step, sizes);
  return orRefused({ changes, notices }, async () => {
    const breaking = changes.filter(({ level }) => level === 'breaking');
    if (strict && breaking.length > 0)
      refuse(`there are breaking changes: ${namesWithUse(breaking)}`);
    refuseInUse(changes, 'breaking changes are in use');
    refuseBrokenPolicy(policyFaults, '');
    await refuseOpen(needs);
    return { changes, notices, result: {} };
  });
}

type Assessed = Omit<Assessment, 'changes'> & { changes: CheckedChange[] };

/** What needs approval before it is assessed. */
async function sizesOf({ store }: Registry, publisher: Publisher, step: Step): Promise<Need[]> {
  const { owner } = whoIs(publisher);
  const tokens = await (await store.tables()).tokens.select((one) => isSameOwner(one.owner, owner));
  return sizeNeeds(
    step,
    tokens.map(({ subgraph }) => subgraph),
  );
}

async function assessStep({ usage, ran, mostCosts }: Registry, step: Step, sizes: readonly Need[]) {
  const found = await assess(step, ran);
  const { changes, needs, newProvider, costs } = found;
  const isBreaking = changes.some(({ level }) => level === 'breaking');
  const since = dayOf(Date.now() - (USAGE_DAYS - 1) * DAY_MS);
  const checked = withUsage(changes, isBreaking ? await usage(since) : []);
  return {
    ...found,
    needs: [
      ...sizes,
      ...costNeeds(step, costs, mostCosts),
      ...needs,
      ...needsOfProvider(newProvider),
    ],
    changes: checked,
  };
}

/** Callers see no change, but the provider decides which member tokens are valid. */
function needsOfProvider(name: string | undefined): Need[] {
  if (name === undefined) return [];
  const what = `${name} would take over signingKeys and decide which member tokens are valid`;
  return [{ rule: 'resolves', what, losing: [] }];
}

async function orRefused<T>(shown: Pick<Outcome, 'changes' | 'notices'>, work: () => Promise<T>) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return { ...shown, refused: error.message };
    throw error;
  }
}

/**
 * Unless it is forced or a subgraph goes back, which has to be possible, a change breaks nothing
 * that is in use or promised.
 */
function refuseHarmful(
  { kind }: Publisher,
  { force, step }: Plan,
  { changes, policyFaults }: Assessed,
): void {
  if (force || (step.kind === 'subgraph' && step.approved !== undefined)) return;
  const isTeam = kind === 'team';
  refuseInUse(
    changes,
    isTeam
      ? 'breaking changes are in use, and only an operator can force them'
      : 'breaking changes are in use, and need --force',
  );
  refuseBrokenPolicy(policyFaults, isTeam ? '' : ', and this needs --force');
}

async function refuseUnapproved(
  registry: Registry,
  publisher: Publisher,
  { change, step, digest, approve, force }: Plan,
  { needs, newProvider }: Pick<Assessed, 'needs' | 'newProvider'>,
): Promise<void> {
  const { store, audit } = registry;
  const subgraph = publisherOf(step);
  if (subgraph === undefined) {
    // Whatever the earlier version has was approved before.
    if (newProvider !== undefined && !force)
      refuse(`${newProvider} would decide which member tokens are valid; this needs --force`);
    return;
  }
  const tables = await store.tables();
  const open = await openNeeds(tables, publisher, { digest, needs });
  if (open.length === 0) return;
  const target = { subgraph, needs: open.map(({ what }) => what) };
  if (publisher.kind === 'operator' && approve)
    return audit({ operation: 'supergraph.approve', ...whoIs(publisher), ...target });
  const { proposalId } = await keepProposal(tables, publisher, { subgraph, digest, needs });
  audit({ operation: 'supergraph.propose', ...whoIs(publisher), proposalId, ...target });
  refuse(
    `${change} needs approval: ${open.map(inWords).join('; ')}. After loyalty supergraph approve ${proposalId}, within 7 days, run this again`,
  );
}

function inWords(need: Need): string {
  return `${need.what} (approved by ${approversOf(need)})`;
}

/** The new version; undefined if somebody else was faster. */
async function append(
  { store, audit, mostCosts }: Registry,
  publisher: Publisher,
  { version, planned, assessed }: { version: number; planned: Plan; assessed: Assessed },
): Promise<object | undefined> {
  const { after, changes, lines, costs, needs } = assessed;
  const { change, step, about, digest } = planned;
  const subgraph = publisherOf(step);
  const texts = [after.supergraph, ...Object.values(after.schemas)];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MAX_GRAPH_BYTES)
    refuse(`the graph would have ${bytes} bytes, but may have ${MAX_GRAPH_BYTES} at most`);
  const counts = countLevels(changes);
  const [next, publishedAt] = [version + 1, new Date()];
  const facts = omitUndefined({ ...whoIs(publisher), ...about });
  const tables = await store.tables();
  const approved = await withApprovedCosts(tables, digest, needs);
  const took = tookOf(step, costs, approved, mostCosts);
  const numbers = { version: next, publishedAt, counts, took };
  const made = { ...after, ...facts, ...numbers, change, changes: lines };
  await requireActive(tables, publisher);
  if (!(await store.append(made))) return undefined;
  const [verb] = change.split(' ');
  const operation = `supergraph.${verb}`;
  audit(omitUndefined({ operation, ...whoIs(publisher), subgraph, target: change, version: next }));
  await endProposals(tables, digest);
  return { version: next, change, publishedAt, ...counts };
}

const MAX_USERS = 5;
const MAX_NAMED = 3;

export function inUse(changes: readonly CheckedChange[]): CheckedChange[] {
  return changes.filter(({ usedBy }) => usedBy.length > 0);
}

/** Throws a Refusal that names the changes that break what callers use, if there are any. */
export function refuseInUse(changes: readonly CheckedChange[], reason: string): void {
  const used = inUse(changes);
  if (used.length > 0) refuse(`${reason}: ${namesWithUse(used)}`);
}

export function refuseBrokenPolicy(faults: readonly string[], advice: string): void {
  if (faults.length > 0)
    refuse(`the deprecation policy forbids it${advice}: ${listed(faults, MAX_NAMED)}`);
}

/** `Query.a (acme 120 times, members 3 times), Query.b (…)` */
export function namesWithUse(changes: readonly CheckedChange[]): string {
  const names = changes.map(({ coordinate, usedBy }) =>
    usedBy.length === 0 ? coordinate : `${coordinate} (${users(usedBy)})`,
  );
  return listed(names, MAX_NAMED);
}

export function users(usedBy: readonly UsedBy[]): string {
  const names = usedBy.map(({ partnerId, count }) => {
    const times = count === 1 ? 'once' : `${count.toLocaleString('en')} times`;
    return `${partnerId ?? 'members'} ${times}`;
  });
  return listed(names, MAX_USERS);
}

export function countLevels(changes: readonly Pick<CheckedChange, 'level'>[]): LevelCounts {
  const count = (level: CheckedChange['level']) =>
    changes.filter((change) => change.level === level).length;
  return { breaking: count('breaking'), dangerous: count('dangerous'), safe: count('safe') };
}
