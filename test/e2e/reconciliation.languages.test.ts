// The examples of a nightly reconciliation run as partners run them, night after night.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from '@partner-loyalty/standings';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { EXAMPLES } from '../support/servers/examples.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { PARTNERS } from '../support/service/testdata.ts';
import { listsAreSettled, until } from '../support/until.ts';

const ENROLL = `mutation ($email: String!) { enrollMember(input: { email: $email }) {
  member { memberId } } }`;
const EVENTS = 'query ($after: String) { events(first: 1, after: $after) { edges { cursor } } }';
const TIERS = '{ program { tiers { name } } }';
const END = 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }';
const RECORD = `mutation ($activities: [ActivityInput!]!) {
  recordActivities(activities: $activities) { outcome } }`;

let service: DeployedService;
let folder: Folder;
beforeAll(async () => {
  folder = temporaryFolder();
  service = await startDeployed('one process', { RATE_LIMIT_BUDGET: '100000' });
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

async function send(query: string, variables: object) {
  const { body, code } = await service.send({ query, variables: { ...variables } });
  if (code !== undefined) throw new Error(JSON.stringify(body.errors));
  return body.data;
}

async function enroll(name: string): Promise<string> {
  const { enrollMember } = (await send(ENROLL, { email: `${name}@example.com` })) as {
    enrollMember: { member: { memberId: string } };
  };
  return enrollMember.member.memberId;
}

/** Resolves when reads are by the changed program. */
async function changeProgram(program: Program): Promise<void> {
  await service.stack.stores.standings.changeProgram('alpha', program);
  const [{ name } = {}] = program.tiers;
  await until(async () => JSON.stringify(await send(TIERS, {})).includes(`"${name}"`));
}

type Copy = { cursor: string; members: { memberId: string; tier: string; points: number }[] };

/** The copy that an example keeps, and its nights. */
function createReader(name: string, command: string, script: string) {
  const file = () => join(folder.path, name);
  const read = (): Copy => JSON.parse(readFileSync(file(), 'utf8'));
  /** The members that it has, by ID. */
  const copied = () =>
    Object.fromEntries(read().members.map((one) => [one.memberId, `${one.tier} ${one.points}`]));
  async function night(): Promise<string> {
    const env = {
      PATH: process.env.PATH,
      PARTNER_LOYALTY_URL: `${service.stack.gateway.url}/graphql`,
      PARTNER_LOYALTY_KEY: service.keys.alpha,
      MEMBERS_FILE: file(),
    };
    const { stdout } = await promisify(execFile)(command, [join(EXAMPLES, script)], { env });
    return stdout;
  }
  return {
    name,
    read,
    write: (copy: Copy) => writeFileSync(file(), JSON.stringify(copy)),
    copied,
    night,
    /** Nights until the copy has what is expected: an event shows within a second. */
    nightsUntil: (expected: Record<string, string | undefined>) =>
      until(async () => {
        await night();
        const copy = copied();
        return Object.entries(expected).every(([memberId, text]) => copy[memberId] === text);
      }),
    quiet: () => until(async () => /^0 events, \d+ members\n$/.test(await night())),
  };
}

type Reader = ReturnType<typeof createReader>;

const READERS = [
  createReader('Node', process.execPath, 'node/reconcile.mjs'),
  createReader('Python', 'python3', 'python/reconcile.py'),
];
/** Both at the same time, since they wait for most of it. */
const both = <T>(work: (reader: Reader) => Promise<T>) => Promise.all(READERS.map(work));

test('the first night reads all members, later ones only what has changed', () =>
  both(async ({ night, nightsUntil, quiet }) => {
    expect(await night()).toMatch(/^\d+ events, \d+ members, all read\n$/);
    await nightsUntil({ 'm-both': 'Silver 250', 'm-alpha': 'Blue 0', 'm-ended': undefined });
    await quiet();
  }));

test('members who come, earn points and leave', () =>
  both(async ({ name, nightsUntil }) => {
    const memberId = await enroll(name);
    await nightsUntil({ [memberId]: 'Blue 0' });
    const occurredAt = new Date().toISOString();
    const activity = { activityId: `${name}-1`, memberId, points: 100, occurredAt };
    await send(RECORD, { activities: [activity] });
    await nightsUntil({ [memberId]: 'Silver 100' });
    await send(END, { memberId });
    await nightsUntil({ [memberId]: undefined });
  }));

test('a changed program, which has no events of members, makes them read all members', async () => {
  const { program } = PARTNERS.alpha;
  const tiers = program.tiers.map((tier) => ({ ...tier, name: `New ${tier.name}` }));
  await changeProgram({ ...program, tiers });
  await both(({ nightsUntil }) => nightsUntil({ 'm-alpha': 'New Blue 0' }));
  await changeProgram(program);
  await both(async ({ nightsUntil, quiet }) => {
    await nightsUntil({ 'm-alpha': 'Blue 0' });
    await quiet();
  });
});

test('a cursor that has expired makes them read all members', async () => {
  const before = READERS.map(({ read }) => read().cursor);
  const memberId = await enroll('later');
  for (const after of before)
    await until(async () => {
      const { events } = (await send(EVENTS, { after })) as { events: { edges: unknown[] } };
      return events.edges.length > 0;
    });
  const { feed } = service.stack.stores.standings;
  await feed.dropBefore(Math.ceil(Date.now() / 86_400_000) + 1);
  await both(async ({ night }) =>
    expect(await night()).toMatch(/^0 events, \d+ members, all read\n$/),
  );
  await listsAreSettled();
  await both(async ({ name, read, write, night, copied, quiet }) => {
    const cursor = before[READERS.findIndex((one) => one.name === name)] ?? '';
    write({ ...read(), cursor });
    await night();
    expect(copied()).toMatchObject({ 'm-both': 'Silver 250', [memberId]: 'Blue 0' });
    await quiet();
  });
});

test('a night that fails leaves the copy and its cursor as they were', async () => {
  const key = service.keys.alpha;
  service.keys.alpha = `pk_test_${'0'.repeat(36)}`;
  await both(async ({ read, night }) => {
    const before = read();
    await expect(night()).rejects.toMatchObject({ code: 1 });
    expect(read()).toEqual(before);
  });
  service.keys.alpha = key;
});
