// Records an activity of a member, with a key that has the scope ingest: see ../README.md.
import { ask, run } from './api.mjs';

const RECORD = `mutation ($activities: [ActivityInput!]!) {
  recordActivities(activities: $activities) { activityId outcome } }`;

await run(async () => {
  const day = new Date().toISOString().slice(0, 10);
  const activity = {
    activityId: `example-node-${day}`, // An ID counts once, so sending it again is safe.
    memberId: 'demo-002',
    points: 40,
    stays: 1,
    occurredAt: `${day}T00:00:00Z`,
  };
  for (let time = 1; time <= 2; time += 1) {
    const { recordActivities } = await ask(RECORD, { activities: [activity] });
    for (const { activityId, outcome } of recordActivities) console.log(activityId, outcome);
  }
});
