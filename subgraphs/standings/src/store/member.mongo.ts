// What MongoDB has of one member.
import type { Activity } from '../rules/activity.ts';
import type { Collections } from './collections.mongo.ts';
import type { MemberStanding } from './store.ts';

/** The documents of a member, whose ID is in the middle of theirs. */
const ofMember = (memberId: string) => ({
  _id: { $regex: `^[^\\x00]*\\x00${memberId.replace(/[!-/:-@[-`{-~]/g, '\\$&')}\\x00` },
});

export async function* activitiesOf(
  { standings }: Collections,
  memberId: string,
): AsyncGenerator<Activity> {
  const sort = { _id: 1 } as const;
  for await (const { _id, activities } of standings.find(ofMember(memberId), { sort })) {
    const [partnerId = ''] = _id.split('\0');
    for (const { id, ...content } of activities)
      yield { activityId: id, partnerId, memberId, ...content };
  }
}

export async function standingsOf(
  { standings }: Collections,
  memberId: string,
): Promise<MemberStanding[]> {
  const projection = { points: 1, stays: 1 };
  const found = await standings.find(ofMember(memberId), { projection }).toArray();
  return found.map(({ _id, points, stays }) => {
    const [partnerId = '', , year = ''] = _id.split('\0');
    return { partnerId, year, points, stays };
  });
}

/** Resolves with the number of activities deleted. */
export async function deleteAll({ standings }: Collections, memberId: string): Promise<number> {
  let deleted = 0;
  for (;;) {
    const found = await standings.findOneAndDelete(ofMember(memberId));
    if (found === null) return deleted;
    deleted += found.activities.length;
  }
}
