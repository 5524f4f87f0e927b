// Ended sessions, on each engine.
import { setTimeout } from 'node:timers/promises';
import { ENGINES, newPlace, type Place } from '../../test/engine.ts';
import { type EndedSessionsStore, endingSessions } from './endedsessions.ts';

describe.each(ENGINES)('ended sessions on %s', (engine) => {
  let place: Place;
  let sessions: EndedSessionsStore;
  beforeEach(async () => {
    place = newPlace(engine);
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
});
