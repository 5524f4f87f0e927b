// The demo's partners, with different tiers, membership years and time zones.
import type { Program } from '@partner-loyalty/standings';

export type DemoPartner = { partnerId: string; name: string; program: Program };

export const DEMO_PARTNERS: readonly DemoPartner[] = [
  {
    partnerId: 'demo-hotels',
    name: 'Demo Hotels',
    program: {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
      tiers: [
        { name: 'Blue', points: 0 },
        { name: 'Silver', points: 1_000 },
        { name: 'Gold', points: 5_000 },
        { name: 'Platinum', points: 15_000 },
      ],
    },
  },
  {
    partnerId: 'demo-trains',
    name: 'Demo Trains',
    program: {
      membershipYear: { start: '07-01', timeZone: 'Pacific/Auckland' },
      tiers: [
        { name: 'Basic', points: 0 },
        { name: 'Plus', points: 2_500 },
        { name: 'Prime', points: 10_000 },
      ],
      tierValidity: 'nextYear',
    },
  },
  {
    partnerId: 'demo-coffee',
    name: 'Demo Coffee',
    program: {
      membershipYear: { start: '10-15', timeZone: 'America/New_York' },
      tiers: [
        { name: 'Bean', points: 0 },
        { name: 'Roast', points: 800 },
        { name: 'Crema', points: 3_000 },
      ],
    },
  },
];
