// The test data: partners, members, enrollments and activities, written to stores as imports do.
import type { KeyLimits, KeyStore, Partner } from '@partner-loyalty/gateway';
import {
  type Address,
  canonicalEmail,
  type MemberImport,
  type MembersStore,
} from '@partner-loyalty/members';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import {
  type DatedActivity,
  type Program,
  type StandingsStore,
  yearOf,
} from '@partner-loyalty/standings';
import { issueKey } from '../../../gateway/src/identity/apikey.ts';
import { KEY_SCOPES } from '../../../gateway/src/schema/scopes.ts';

export type Stores = { keys: KeyStore; members: MembersStore; standings: StandingsStore };

export type PartnerId = keyof typeof PARTNERS;

/** The partners by id. `frugal` has its own budget; it and `gamma` have no program. */
export const PARTNERS = {
  alpha: {
    program: {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
      tiers: [
        { name: 'Blue', points: 0 },
        { name: 'Silver', points: 100 },
        { name: 'Gold', points: 1_000 },
      ],
    },
  },
  beta: {
    program: {
      membershipYear: { start: '07-01', timeZone: 'Pacific/Auckland' },
      tiers: [
        { name: 'Plus', points: 50 },
        { name: 'Prime', points: 500 },
      ],
    },
  },
  frugal: { budget: 5 },
  gamma: {},
} satisfies Record<string, { program?: Program; budget?: number }>;

/** The members, each with the reason that tests need it. */
export const MEMBERS: MemberImport[] = [
  {
    memberId: 'm-both', // enrolled with alpha and beta, with an earlier address
    address: address('Both@Example.com'),
    previousAddresses: [address('both.earlier@example.net')],
    firstName: 'Teal',
    lastName: 'Heron',
    enrollments: [
      { partnerId: 'alpha', externalId: 'shared-1' },
      { partnerId: 'beta', externalId: 'beta-7' },
    ],
  },
  {
    memberId: 'm-alpha', // enrolled with alpha only, without last name or activities
    address: address('alpha.only@example.com'),
    previousAddresses: [],
    firstName: 'Ochre',
    enrollments: [{ partnerId: 'alpha', externalId: 'alpha-2' }],
  },
  {
    memberId: 'm-beta', // enrolled with beta only, under an external ID that m-both has with alpha
    address: address('beta.only@example.com'),
    previousAddresses: [address('beta.earlier@example.com')],
    enrollments: [{ partnerId: 'beta', externalId: 'shared-1' }],
  },
  {
    memberId: 'm-ended', // enrollment with alpha ended, with gamma active
    address: address('ended@example.com'),
    previousAddresses: [address('ended.earlier@example.com')],
    firstName: 'Umber',
    enrollments: [
      { partnerId: 'alpha', status: 'ENDED' },
      { partnerId: 'gamma', externalId: 'gamma-4' },
    ],
  },
  {
    memberId: 'm-nobody',
    address: address('nobody@example.com'),
    previousAddresses: [],
    enrollments: [],
  },
  {
    memberId: 'm-frugal',
    address: address('frugal@example.com'),
    previousAddresses: [],
    enrollments: [{ partnerId: 'frugal', externalId: 'frugal-1' }],
  },
];

/** Points and stays in the current membership years. */
const EARNED: [partnerId: PartnerId, memberId: string, points: number, stays: number][] = [
  ['alpha', 'm-both', 300, 2],
  ['alpha', 'm-both', -50, 0],
  ['beta', 'm-both', 700, 1],
  ['alpha', 'm-ended', 400, 4],
  ['gamma', 'm-ended', 9, 1],
  ['beta', 'm-beta', -20, 0],
];

/** Writes the partners. Resolves with a key for each. */
export async function addPartners(
  stores: Stores,
  environment: Environment = 'sandbox',
): Promise<Record<PartnerId, string>> {
  const keys: [string, string][] = [];
  for (const [partnerId, { program, budget }] of Object.entries<{
    program?: Program;
    budget?: number;
  }>(PARTNERS)) {
    if (program) await stores.standings.putProgram(partnerId, program);
    keys.push([partnerId, await addPartner(stores.keys, { partnerId, budget }, environment)]);
  }
  // Cast: there is an entry for each partner.
  return Object.fromEntries(keys) as Record<PartnerId, string>;
}

/** Writes all test data as of `now`. Resolves with a key for each partner. */
export async function fillStores(
  stores: Stores,
  now = new Date(),
  environment: Environment = 'sandbox',
) {
  const keys = await addPartners(stores, environment);
  await stores.members.importMembers(MEMBERS);
  await stores.standings.record(EARNED.map((earned, index) => activity(`a-${index}`, earned, now)));
  return keys;
}

/** Writes a partner. Resolves with a key for it, which has every scope. */
export async function addPartner(
  keys: KeyStore,
  partner: Pick<Partner, 'partnerId' | 'budget'>,
  environment: Environment = 'sandbox',
): Promise<string> {
  await keys.createPartner({ ...partner, name: partner.partnerId, createdAt: new Date() });
  return addKey(keys, partner.partnerId, environment, { scopes: [...KEY_SCOPES] });
}

/** Creates another key for a partner. */
export async function addKey(
  keys: KeyStore,
  partnerId: string,
  environment: Environment = 'sandbox',
  limits: KeyLimits = {},
): Promise<string> {
  const { key, record } = issueKey(environment, partnerId, new Date(), limits);
  await keys.createKey(record);
  return key;
}

/** An address as an import passes it. Throws if it is not an address. */
export function address(typed: string): Address {
  const canonical = canonicalEmail(typed);
  if (canonical === undefined) throw new Error(`${typed} is not an address`);
  return { typed, canonical };
}

/** An activity, with its membership year by the partner's program. */
export function activity(
  activityId: string,
  [partnerId, memberId, points, stays]: [
    partnerId: PartnerId,
    memberId: string,
    points: number,
    stays: number,
  ],
  occurredAt: Date,
): DatedActivity {
  const { program }: { program?: Program; budget?: number } = PARTNERS[partnerId];
  return {
    activityId,
    partnerId,
    memberId,
    points,
    stays,
    occurredAt,
    year: yearOf(program, occurredAt),
  };
}
