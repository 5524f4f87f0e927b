// The demo's data: the same at every start, except for the times of the activities.
import type { MemberImport } from '@partner-loyalty/members';
import type { DatedActivity } from '@partner-loyalty/standings';
import { demoActivities } from './activities.ts';
import { demoMembers } from './members.ts';
import { DEMO_PARTNERS, type DemoPartner } from './partners.ts';
import { createRandom } from './random.ts';

export type DemoData = {
  partners: readonly DemoPartner[];
  members: MemberImport[];
  activities: DatedActivity[];
};

const SEED = 20_260_701;

/** 3 partners, 200 members and their activities as of `now`. */
export function demoData(now: Date): DemoData {
  const random = createRandom(SEED);
  const members = demoMembers(random);
  return { partners: DEMO_PARTNERS, members, activities: demoActivities(members, now, random) };
}
