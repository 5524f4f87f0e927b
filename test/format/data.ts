// What the data directory has that the test beside this file starts on.

export const PROGRAM = JSON.stringify({
  membershipYear: { start: '04-01', timeZone: 'Europe/Paris' },
  tiers: [
    { name: 'Blue', points: 0 },
    { name: 'Gold', points: 1_000 },
  ],
});

export const OFFERS_SECRET = 'the secret of offers';
export const OFFERS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])
  type PartnerMemberRead @key(fields: "memberId") {
    memberId: ID!
    offers: [String!] @tag(name: "partner")
  }
`;

/** As `loyalty members import` takes them. */
export const MEMBERS = [
  {
    memberId: 'm-ada',
    email: 'Ada@Example.com',
    previousEmails: ['ada.old@example.com'],
    firstName: 'Ada',
    lastName: 'Byron',
    enrollments: [{ partnerId: 'inn', externalId: 'A-1' }, { partnerId: 'spa' }],
  },
  { memberId: 'm-bob', email: 'bob@example.com', enrollments: [{ partnerId: 'inn' }] },
  { memberId: 'm-locked', email: 'locked@example.com', enrollments: [{ partnerId: 'inn' }] },
  { memberId: 'm-erased', email: 'erased@example.com', enrollments: [{ partnerId: 'inn' }] },
];

/** As `loyalty activities import` takes them. */
export const ACTIVITIES = [
  {
    activityId: 'a-1',
    memberId: 'm-ada',
    points: 700,
    stays: 1,
    occurredAt: '2026-04-02T09:00:00Z',
  },
  {
    activityId: 'a-2',
    memberId: 'm-ada',
    points: 500,
    stays: 2,
    occurredAt: '2026-05-03T10:00:00Z',
  },
  { activityId: 'a-3', memberId: 'm-ada', points: -100, occurredAt: '2025-06-04T11:00:00Z' },
  { activityId: 'e-1', memberId: 'm-erased', points: 9, occurredAt: '2026-05-03T10:00:00Z' },
].map((one) => ({ partnerId: 'inn', ...one }));
