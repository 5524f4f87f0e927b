// How long programs are cached.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { Program } from '../rules/program.ts';
import { cachePrograms } from './programs.ts';

const PROGRAM: Program = {
  membershipYear: { start: '01-01', timeZone: 'UTC' },
  tiers: [{ name: 'Only', points: 0 }],
};

describe.each<[string, (value: Program | undefined) => MaybePromise<Program | undefined>]>([
  ['synchronously', (value) => value],
  ['with a promise', async (value) => value],
])('programs that a store loads %s', (_, answer) => {
  let time: number;
  let loads: string[];
  const newCache = () => {
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

  test('are loaded once in five seconds, as is the lack of one', async () => {
    const programs = newCache();
    for (const after of [0, 4_999]) {
      time = 1_000 + after;
      expect(await programs.get('inn')).toEqual(PROGRAM);
      expect(await programs.get('spa')).toBeUndefined();
    }
    expect(loads).toEqual(['inn', 'spa']);
    time = 6_001;
    await programs.get('inn');
    expect(loads).toEqual(['inn', 'spa', 'inn']);
  });

  test('are loaded again once they are forgotten', async () => {
    const programs = newCache();
    await programs.get('inn');
    programs.forget('inn');
    await programs.get('inn');
    expect(loads).toEqual(['inn', 'inn']);
  });
});

test('a cached program comes without a promise', async () => {
  const programs = cachePrograms(async () => PROGRAM);
  await programs.get('inn');
  expect(programs.get('inn')).toEqual(PROGRAM);
});

test('a failure is not cached', async () => {
  let unavailable = true;
  const programs = cachePrograms(async () => {
    if (unavailable) throw new Error('unavailable');
    return PROGRAM;
  });
  await expect(programs.get('inn')).rejects.toThrow('unavailable');
  unavailable = false;
  expect(await programs.get('inn')).toEqual(PROGRAM);
});

test('names that the version before stored are shown without what alters text', async () => {
  const tiers = [{ name: 'G\u202eo\u200bld', points: 0 }];
  const programs = cachePrograms(() => ({ ...PROGRAM, tiers }));
  for (let n = 0; n < 2; n += 1)
    expect(programs.get('inn')).toMatchObject({ tiers: [{ name: 'Gold', points: 0 }] });
});
