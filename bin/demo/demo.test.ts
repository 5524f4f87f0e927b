// The demo and its data.

import { KEY_SCOPES, openKeyStore } from '@partner-loyalty/gateway';
import { openMembersStore } from '@partner-loyalty/members';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { openStandingsStore, tierOf, yearOf } from '@partner-loyalty/standings';
import { temporaryFolder } from '../../test/support/folder.ts';
import { banner, baseUrlOf } from './banner.ts';
import { demoData, fillDemo, type Stores, storesForDemo } from './demo.ts';
import { DEMO_MEMBER } from './members.ts';
import { DEMO_PARTNERS } from './partners.ts';

// The text that a start prints.

test.each([
  [{}, 'http://localhost:4000'],
  [{ HOST: '::1' }, 'http://[::1]:4000'],
  [{ HOST: '0.0.0.0', PORT: '0' }, 'http://localhost:4321'],
  [{ SANDBOX_URL: 'https://sandbox.example/api' }, 'https://sandbox.example/api'],
  [{ ENVIRONMENT: 'production', PRODUCTION_URL: 'https://api.example' }, 'https://api.example'],
])('with %j the base URL is %s, as the issuer and the mailed links have it', (env, url) => {
  expect(baseUrlOf(readSettings(env, 'all'), 4321)).toBe(url);
});

test('otherwise: the endpoint, and how to create a key for an existing or a new partner', () => {
  const start = {
    environment: 'production' as const,
    endpoint: 'http://127.0.0.1:4001/graphql',
    partnerIds: [],
    hasExplorer: false,
  };
  expect(banner({ ...start, partnerIds: ['blue', 'red'] })).toContain(
    'npx --no-install loyalty keys create blue\n',
  );
  expect(banner(start)).toMatch(
    /npx --no-install loyalty partners create ID --name NAME\n.*npx --no-install loyalty keys create ID\n/,
  );
  expect(banner(start)).not.toMatch(/curl|explorer/);
  const withExplorer = banner({ ...start, hasExplorer: true });
  expect(withExplorer).toContain('http://127.0.0.1:4001/explorer\n');
  expect(withExplorer).toContain('http://127.0.0.1:4001/explorer#key=pk_live_…\n');
});

// The demo's data, and when it fills the stores.

const DATES = [
  '2026-01-01T00:00:00Z',
  '2026-06-30T11:59:59Z',
  '2026-06-30T12:00:00Z',
  '2026-10-15T04:00:00Z',
  '2028-02-29T18:00:00Z',
  '2026-12-31T23:59:59.999Z',
].map((date) => new Date(date));

describe('the data', () => {
  const { partners, members, activities } = demoData(new Date('2026-09-01T12:00:00Z'));

  test('has 3 partners with different tiers, years and time zones, and 200 members', () => {
    expect(partners).toHaveLength(3);
    expect(new Set(partners.map(({ program }) => program.membershipYear.start)).size).toBe(3);
    expect(new Set(partners.map(({ program }) => program.membershipYear.timeZone)).size).toBe(3);
    expect(partners.filter(({ program }) => program.tierValidity === 'nextYear')).toHaveLength(1);
    expect(
      new Set(partners.flatMap(({ program }) => program.tiers.map(({ name }) => name))).size,
    ).toBe(10);
    expect(members).toHaveLength(200);
    expect(new Set(members.map(({ memberId }) => memberId)).size).toBe(200);
  });

  test('no two members share an address, or an external ID with one partner', () => {
    const addresses = members.flatMap(({ address, previousAddresses }) =>
      [address, ...previousAddresses].map(({ canonical }) => canonical),
    );
    expect(new Set(addresses).size).toBe(addresses.length);
    const ids = members.flatMap(({ enrollments }) =>
      enrollments.flatMap(({ partnerId, externalId }) =>
        externalId ? [`${partnerId} ${externalId}`] : [],
      ),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('some member reaches each tier of each partner', () => {
    for (const { partnerId, program } of partners) {
      const year = yearOf(program, new Date('2026-09-01T12:00:00Z'));
      const sums = members
        .filter(({ enrollments }) => enrollments.some((one) => one.partnerId === partnerId))
        .map(({ memberId }) =>
          activities
            .filter(
              (one) =>
                one.partnerId === partnerId && one.memberId === memberId && one.year === year,
            )
            .reduce((sum, { points }) => sum + points, 0),
        );
      expect(new Set(sums.map((points) => tierOf(program, points)))).toEqual(
        new Set(program.tiers.map(({ name }) => name)),
      );
    }
  });

  test.each(DATES)(
    'at %p it differs only in its times, and the current year has the same sums',
    (now) => {
      const other = demoData(now);
      expect(other.members).toEqual(members);
      expect(other.activities.map(({ points }) => points)).toEqual(
        activities.map(({ points }) => points),
      );
      const [hotels] = DEMO_PARTNERS;
      const year = yearOf(hotels?.program, now);
      const current = other.activities.filter(
        (one) =>
          one.partnerId === hotels?.partnerId &&
          one.memberId === DEMO_MEMBER.memberId &&
          one.year === year,
      );
      expect(current.reduce((sum, { points }) => sum + points, 0)).toBe(5200);
      for (const { occurredAt } of other.activities)
        expect(occurredAt.getTime()).toBeLessThanOrEqual(now.getTime());
    },
  );
});

describe('the demo', () => {
  const settings = { environment: 'sandbox' as const };
  let folder: ReturnType<typeof temporaryFolder>;
  let stores: Stores;
  beforeEach(async () => {
    folder = temporaryFolder();
    const embedded = { dataDir: folder.path, environment: 'sandbox' as const };
    stores = {
      keys: await openKeyStore(embedded),
      members: await openMembersStore(embedded),
      standings: await openStandingsStore(embedded),
    };
  });
  afterEach(async () => {
    await Promise.all(Object.values(stores).map((store) => store.close()));
    folder.remove();
  });

  const standing = async (partnerId: string, memberId: string, now: Date) => {
    const program = DEMO_PARTNERS.find((partner) => partner.partnerId === partnerId)?.program;
    return stores.standings.standing(partnerId, memberId, yearOf(program, now));
  };

  test('fills empty stores once', async () => {
    const now = new Date();
    expect(await storesForDemo(settings, stores)).toEqual(stores);
    const keys = await fillDemo(stores, now);
    expect(keys.map(({ partnerId }) => partnerId)).toEqual(
      DEMO_PARTNERS.map(({ partnerId }) => partnerId),
    );
    expect(await stores.keys.keys('demo-hotels')).toMatchObject([{ scopes: KEY_SCOPES }]);
    expect(await storesForDemo(settings, stores)).toBeUndefined();
    expect(
      await stores.members.memberByEmail('demo-hotels', 'teal.heron@example.com'),
    ).toMatchObject({ memberId: 'demo-001' });
    expect(await standing('demo-hotels', 'demo-001', now)).toEqual({ points: 5200, stays: 2 });
  });

  test('is completed days after it was interrupted, and counts nothing twice', async () => {
    const [before, after] = [new Date('2026-09-01T12:00:00Z'), new Date('2026-09-04T12:00:00Z')];
    const broken = {
      ...stores,
      standings: { ...stores.standings, record: () => Promise.reject(new Error('power cut')) },
    };
    await expect(fillDemo(broken, before)).rejects.toThrow('power cut');
    const begun = await storesForDemo(settings, stores);
    expect(begun).toEqual(stores);
    await stores.standings.record(demoData(before).activities.slice(0, 200));
    await fillDemo(stores, after);
    expect(await storesForDemo(settings, stores)).toBeUndefined();
    expect(await standing('demo-hotels', 'demo-001', after)).toEqual({ points: 5200, stays: 2 });
    expect(await stores.keys.partners()).toHaveLength(3);
  });

  test('fills no stores in production, on MongoDB, in another process or with data', async () => {
    expect(await storesForDemo({ ...settings, environment: 'production' }, stores)).toBeUndefined();
    expect(
      await storesForDemo({ ...settings, mongodbUrl: 'mongodb://127.0.0.1' }, stores),
    ).toBeUndefined();
    const { members: _elsewhere, ...here } = stores;
    expect(await storesForDemo(settings, here)).toBeUndefined();
    await stores.members.importMembers([
      {
        address: { typed: 'a@example.com', canonical: 'a@example.com' },
        previousAddresses: [],
        enrollments: [],
      },
    ]);
    expect(await storesForDemo(settings, stores)).toBeUndefined();
  });

  test('fills no stores that an operator has claimed', async () => {
    await stores.keys.setOrigin('operator');
    expect(await storesForDemo(settings, stores)).toBeUndefined();
  });
});
