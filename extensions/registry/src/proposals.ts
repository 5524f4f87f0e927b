// Changes that touch what is not the publisher's own: kept until their owners have approved them.
import { hash } from 'node:crypto';
import type {
  Approval,
  Need,
  Proposal,
  RegistryTables,
  SubgraphToken,
} from '@partner-loyalty/gateway/graph/tables.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { isBuiltIn } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { TOLERANCE } from './publish/size.ts';
import { type Publisher, refuse, whoIs } from './request.ts';
import { stateOfToken } from './tokens.ts';

/** How long a proposal is kept, and an approval counts. */
const KEPT_MS = 7 * 86_400_000;
/** The most proposals of a subgraph; the oldest goes first. */
const MAX_PROPOSALS = 20;
/** The most needs of a proposal: nobody can judge more, or read longer names. */
const MAX_NEEDS = 200;
const MAX_NEEDS_LENGTH = 64 * 1_024;
const MAX_LISTED = 1_000;

/** Stands for exactly this content: URL, batching, codes, and a schema of up to 4 MiB. */
export function digestOf(content: unknown, sdl = ''): string {
  // JSON has no line break, and would take several times as long for the schema.
  return hash('sha256', `${JSON.stringify(content)}\n${sdl}`);
}

/** An ID stands for what was shown with it: what needs more is another proposal. */
function proposalIdOf(digest: string, needs: readonly Need[]): string {
  return `p-${digestOf([digest, needs]).slice(0, 32)}`;
}

/** The proposal for this content; undefined if there is none that names all that it needs now. */
async function proposalFor(
  { proposals }: RegistryTables,
  digest: string,
  needs: readonly Need[],
): Promise<Proposal | undefined> {
  const found = await proposals.select((one) => one.digest === digest);
  return found.find((proposal) => coversAll(proposal, needs));
}

/** The needs of some content that nobody who may approve them has approved yet. */
export async function openNeeds(
  tables: RegistryTables,
  publisher: Publisher,
  { digest, needs }: { digest: string; needs: readonly Need[] },
): Promise<Need[]> {
  if (needs.length === 0) return [];
  const { approvals = [] } = (await proposalFor(tables, digest, needs)) ?? {};
  const { owner } = whoIs(publisher);
  return unsettled(await tables.tokens.select(() => true), owner, { approvals, needs });
}

/** The needs, with the costs that whoever approved them has seen. */
export async function withApprovedCosts(
  tables: RegistryTables,
  digest: string,
  needs: readonly Need[],
): Promise<readonly Need[]> {
  const proposal = await proposalFor(tables, digest, needs);
  if (proposal === undefined) return needs;
  const keys = new Set(needs.map(keyOf));
  return proposal.needs.filter((need) => keys.has(keyOf(need)));
}

/** Keeps what was refused, with the approvals that it has, unless it touches more than before. */
export async function keepProposal(
  tables: RegistryTables,
  publisher: Publisher,
  { subgraph, digest, needs }: { subgraph: string; digest: string; needs: readonly Need[] },
): Promise<Proposal> {
  const { proposals } = tables;
  if (needs.length > MAX_NEEDS || JSON.stringify(needs).length > MAX_NEEDS_LENGTH)
    refuse(`it touches ${needs.length} things of other subgraphs, more than anybody can approve`);
  const now = Date.now();
  await proposals.removeUntil('expiresAt', now);
  const known = await proposalFor(tables, digest, needs);
  if (known === undefined) await endProposals(tables, digest);
  const proposalId = known?.proposalId ?? proposalIdOf(digest, needs);
  const { owner } = whoIs(publisher);
  const fresh = { proposalId, digest, subgraph, owner, needs, expiresAt: now + KEPT_MS };
  const kept = await proposals.update(proposalId, (before) => ({
    approvals: [],
    ...omitUndefined(fresh),
    ...before,
    expiresAt: fresh.expiresAt,
  }));
  const all = await proposals.select((other) => other.subgraph === subgraph);
  const rest = all.sort((one, other) => other.expiresAt - one.expiresAt).slice(MAX_PROPOSALS);
  for (const { proposalId: id } of rest) await proposals.remove(id);
  return kept ?? { ...fresh, approvals: [] };
}

/** An approval is for one publication: after a rollback, the same content needs another one. */
export async function endProposals({ proposals }: RegistryTables, digest: string): Promise<void> {
  await proposals.removeWhere((one) => one.digest === digest);
}

/** The proposals that are not published yet, approved or not; the oldest first. */
export async function pendingProposals({ proposals }: RegistryTables): Promise<Proposal[]> {
  return proposals.range('expiresAt', Date.now() + 1, MAX_LISTED);
}

/**
 * Approves what the approver may: an operator everything, a team what its own subgraph loses.
 * Throws a Refusal if that is nothing. Resolves with the needs that are still open.
 */
export async function approveProposal(
  tables: RegistryTables,
  approver: Publisher,
  proposalId: string,
): Promise<{ proposal: Proposal; open: Need[] }> {
  const now = Date.now();
  const approved = await tables.proposals.update(proposalId, (before) => {
    if (before === undefined || before.expiresAt <= now) return before;
    if (approver.kind === 'team') requireLosing(before, approver);
    const { kind: _, ...who } = approver;
    const approval: Approval = { ...who, at: now };
    const others = before.approvals.filter(({ subgraph }) => subgraph !== approval.subgraph);
    return { ...before, approvals: [...others, approval], expiresAt: now + KEPT_MS };
  });
  if (approved === undefined)
    return refuse(`there is no proposal ${JSON.stringify(proposalId.slice(0, 40))}`);
  const { owner, needs, approvals } = approved;
  const tokens = await tables.tokens.select(() => true);
  return { proposal: approved, open: unsettled(tokens, owner, { approvals, needs }) };
}

function requireLosing({ owner, needs }: Proposal, approver: Extract<Publisher, { kind: 'team' }>) {
  if (isSameOwner(owner, approver.owner))
    refuse('the team that publishes a change cannot approve it');
  const own = needs.filter(({ losing }) => losing.includes(approver.subgraph));
  if (own.length === 0)
    refuse(`this token is for ${approver.subgraph}, which the proposal takes nothing from`);
  if (own.every(isOperatorsAlone)) refuse('only an operator can approve it, on the store');
}

/** Who may approve it, in words. */
export function approversOf(need: Need): string {
  return isOperatorsAlone(need)
    ? 'an operator'
    : `a token of ${need.losing.join(' and one of ')}, or an operator`;
}

function isOperatorsAlone({ rule, losing }: Need): boolean {
  return rule === 'url' || losing.length === 0 || losing.some(isBuiltIn);
}

function coversAll(proposal: Proposal, needs: readonly Need[]): boolean {
  if (proposal.expiresAt <= Date.now()) return false;
  const named = new Map(proposal.needs.map((need) => [keyOf(need), costOf(need)]));
  return needs.every((need) => costOf(need) <= (named.get(keyOf(need)) ?? -1) * TOLERANCE);
}

function costOf({ ms, mb }: Need): number {
  return ms ?? mb ?? 0;
}

function keyOf({ rule, what, losing, ms, mb }: Need): string {
  const measured = ms === undefined ? 'mb' : 'ms';
  return JSON.stringify([rule, (ms ?? mb) === undefined ? what : measured, losing]);
}

function unsettled(
  tokens: readonly SubgraphToken[],
  publisher: string | undefined,
  { approvals, needs }: { approvals: readonly Approval[]; needs: readonly Need[] },
): Need[] {
  const revoked = new Set(tokens.flatMap((one) => (one.revokedAt ? one.tokenId : [])));
  const valid = approvals.filter(
    ({ at, tokenId = '' }) => at > Date.now() - KEPT_MS && !revoked.has(tokenId),
  );
  if (valid.some(({ tokenId }) => tokenId === undefined)) return [];
  const isPublishers = ({ owner }: { owner?: string | undefined }) => isSameOwner(owner, publisher);
  const isOwn = (name: string) => {
    const all = tokens.filter((one) => one.subgraph === name && stateOfToken(one) === 'active');
    return all.length > 0 && all.every(isPublishers);
  };
  const isApproved = (name: string) =>
    valid.some((approval) => approval.subgraph === name && !isPublishers(approval));
  return needs.filter(
    (need) =>
      isOperatorsAlone(need) || !need.losing.every((name) => isOwn(name) || isApproved(name)),
  );
}

/** Operators type names of teams by hand. */
export function isSameOwner(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.toLowerCase() === other?.toLowerCase();
}
