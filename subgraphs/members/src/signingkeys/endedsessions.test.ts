// Ended sessions.
import { setTimeout } from 'node:timers/promises';
import { newPlace, type Place } from '../../test/engine.ts';
import { type EndedSessionsStore, endingSessions } from './endedsessions.ts';

describe('ended sessions', () => {
  let place: Place;
  let sessions: EndedSessionsStore;
  beforeEach(async () => {
    place = newPlace();
    sessions = (await place.open()).endedSessions;
  });
  afterEach(() => place.release());

  test('have ended before an act, so that a crash during it leaves none', async () => {
    const failing = endingSessions(sessions, 'ada', async () => {
      throw new Error('crash');
    });
    await expect(failing).rejects.toThrow('crash');
    expect(await sessions.find('ada')).toEqual(expect.any(Number));
  });

  test('end again after the act, and so does one that began during it', async () => {
    const began = await endingSessions(sessions, 'ada', async () => {
      await setTimeout(2);
      return Date.now();
    });
    expect(await sessions.find('ada')).toBeGreaterThanOrEqual(began);
  });

  test('what ended of a session or an app is listed with its time, and ends again', async () => {
    const { endedSubjects } = await place.open();
    await endedSubjects.end('sid:one', 1_000);
    await endedSubjects.end('app:ada/spa', 2_000);
    await endedSubjects.end('sid:one', 3_000);
    expect(await endedSubjects.list(2_000, 10)).toEqual([
      { subject: 'app:ada/spa', endedAt: 2_000 },
      { subject: 'sid:one', endedAt: 3_000 },
    ]);
    await endedSubjects.forget('ada');
    expect([await endedSubjects.find('app:ada/spa'), await endedSubjects.find('sid:one')]).toEqual([
      undefined,
      3_000,
    ]);
  });

  test('filling what ended: a session or an app is kept for little more than an hour', async () => {
    const { endedSubjects } = await place.open();
    await endedSubjects.end('sid:one', 0);
    await endedSubjects.end('sid:two', 62 * 60_000);
    expect(await endedSubjects.list(0, 10)).toHaveLength(2);
    await endedSubjects.end('app:ada/spa', 70 * 60_000);
    const left = await endedSubjects.list(0, 10);
    expect(left.map(({ subject }) => subject)).toEqual(['sid:two', 'app:ada/spa']);
  });
});
