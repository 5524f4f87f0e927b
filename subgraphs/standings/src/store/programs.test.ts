// How long programs are kept.
import type { MaybePromise } from '@partner-loyalty/runtime';
import type { Program } from '../rules/program.ts';
import { cachePrograms } from './programs.ts';

const PROGRAM: Program = {
  membershipYear: { start: '01-01', timeZone: 'UTC' },
  tiers: [{ name: 'Only', points: 0 }],
};

describe.each<[string, (value: Program | undefined) => MaybePromise<Program | undefined>]>([
  ['at once', (value) => value],
  ['later', async (value) => value],
])('programs that a store answers %s', (_, answer) => {
  let time: number;
  let loads: string[];
  const kept = () => {
    time = 1_000;
    loads = [];
    return cachePrograms(
      (partnerId) => {
        loads.push(partnerId);
        return answer(partnerId === 'inn' ? PROGRAM : undefined);
      },
      { now: () => time },
    );
  };

  test('are asked for once in five seconds, those that are not there as well', async () => {
    const programs = kept();
    for (const after of [0, 4_999]) {
      time = 1_000 + after;
      expect(await programs.get('inn')).toBe(PROGRAM);
      expect(await programs.get('spa')).toBeUndefined();
    }
    expect(loads).toEqual(['inn', 'spa']);
    time = 6_001;
    await programs.get('inn');
    expect(loads).toEqual(['inn', 'spa', 'inn']);
  });

  test('are asked for again once forgotten', async () => {
    const programs = kept();
    await programs.get('inn');
    programs.forget('inn');
    await programs.get('inn');
    expect(loads).toEqual(['inn', 'inn']);
  });
});

test('a program that is kept comes without a promise', async () => {
  const programs = cachePrograms(async () => PROGRAM);
  await programs.get('inn');
  expect(programs.get('inn')).toBe(PROGRAM);
});

test('a failure is not kept', async () => {
  let away = true;
  const programs = cachePrograms(async () => {
    if (away) throw new Error('away');
    return PROGRAM;
  });
  await expect(programs.get('inn')).rejects.toThrow('away');
  away = false;
  expect(await programs.get('inn')).toBe(PROGRAM);
});
