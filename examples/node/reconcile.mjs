// Keeps a copy of one's members up to date, each night by what has changed: see ../README.md.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { ask, run } from './api.mjs';

/** The members, and the cursor of the last event that they have. */
const FILE = process.env.MEMBERS_FILE ?? 'members.json';

/** Nobody waits for it, and the service may be away for minutes at night. */
const deadlineSeconds = process.env.DEADLINE_SECONDS ?? 900;

const EVENTS = `query ($after: String) { list: events(first: 500, after: $after) {
  edges { node { type memberId mergedMemberId member { memberId externalId tier points } } }
  pageInfo { hasNextPage endCursor } } }`;
const MEMBERS = `query ($after: String) { list: members(first: 500, after: $after) {
  edges { node { memberId externalId tier points } } pageInfo { hasNextPage endCursor } } }`;
/** What these change has no events of its own. */
const CHANGE_ALL = ['YEAR_ENDED', 'PROGRAM_CHANGED'];

/** What a list has after a cursor, and the cursor of its end. */
async function readList(query, cursor) {
  const nodes = [];
  for (;;) {
    const { edges, pageInfo } = (await ask(query, { after: cursor }, { deadlineSeconds })).list;
    for (const { node } of edges) nodes.push(node);
    cursor = pageInfo.endCursor;
    if (!pageInfo.hasNextPage) return { nodes, cursor };
  }
}

/** The events after a cursor. `isWhole`: no event between them and the cursor is missing. */
async function readEvents(cursor) {
  try {
    return { ...(await readList(EVENTS, cursor)), isWhole: cursor !== null };
  } catch (error) {
    if (error.reason !== 'EXPIRED') throw error;
    return { ...(await readList(EVENTS, null)), isWhole: false };
  }
}

await run(async () => {
  const stored = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
  const { nodes: events, cursor, isWhole } = await readEvents(stored.cursor ?? null);
  const isAll = !isWhole || events.some(({ type }) => CHANGE_ALL.includes(type));
  // A changed program shows in reads 5 seconds after its event at the latest.
  if (isAll && stored.cursor !== undefined) await setTimeout(5_000);
  // After the events: a change that comes in between is among those of the next run.
  const known = isAll ? (await readList(MEMBERS, null)).nodes : stored.members;
  const members = new Map(known.map((member) => [member.memberId, member]));
  for (const { memberId, mergedMemberId, member } of events) {
    members.delete(mergedMemberId);
    // As the member is now, whichever event it was, so it may be applied twice.
    if (member) members.set(member.memberId, member);
    else members.delete(memberId);
  }
  // Both at once, as in a transaction. A run that fails leaves both as they were.
  writeFileSync(`${FILE}.new`, JSON.stringify({ cursor, members: [...members.values()] }));
  renameSync(`${FILE}.new`, FILE);
  console.log(`${events.length} events, ${members.size} members${isAll ? ', all read' : ''}`);
});
