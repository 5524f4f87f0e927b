// What may be asked for about apps: by the command, and by the operation.

import { createMembers, type MembersStore } from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { ManageApps, NewApp } from '@partner-loyalty/runtime/manage/apps.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { newPlace, type Place } from '../../../../subgraphs/members/test/engine.ts';
import { createManageApps, MAX_APPS } from './apps.ts';

const WEB: NewApp = {
  name: 'Guide',
  redirectUris: ['https://spa.example/callback'],
  isConfidential: true,
};

describe('managing apps', () => {
  let place: Place;
  let store: MembersStore;
  let manage: ManageApps;

  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
    await store.partners.put({ partnerId: 'spa', name: 'Spa' });
    manage = createManageApps(store, { environment: 'sandbox' });
  });
  afterEach(() => place.release());

  const create = (input: Partial<NewApp> = {}, by: 'staff' | 'operator' = 'staff') =>
    manage({ action: 'create', partnerId: 'spa', ...WEB, ...input }, by);
  const made = async (...of: Parameters<typeof create>) => {
    const answer = await create(...of);
    if ('refused' in answer) throw new Error(`refused: ${answer.refused}`);
    return answer.app.clientId;
  };
  const names = async (partnerId: string) => {
    const answer = await manage({ action: 'list', partnerId }, 'staff');
    return 'apps' in answer && answer.apps.map(({ name }) => name);
  };

  test("another partner's app is unknown, and stays as it is", async () => {
    const clientId = await made();
    const before = await store.apps.find(clientId);
    for (const action of ['rotate', 'remove'] as const)
      expect(await manage({ action, partnerId: 'inn', clientId }, 'staff')).toEqual({
        refused: 'unknown',
      });
    expect(await store.apps.find(clientId)).toEqual(before);
    expect(await names('inn')).toEqual([]);
    expect(await names('spa')).toEqual(['Guide']);
  });

  test('an ID that no app has is unknown, however it is written', async () => {
    for (const clientId of ['', 'app_', 'app_1', 'x'.repeat(10_000), 'app_\u0000', '__proto__'])
      for (const action of ['rotate', 'remove'] as const)
        expect(await manage({ action, partnerId: 'spa', clientId }, 'staff')).toEqual({
          refused: 'unknown',
        });
  });

  test('a secret is in the answers that made it, and in no other', async () => {
    const answer = await create();
    expect(answer).toMatchObject({ secret: expect.stringMatching(/^cs_/) });
    const clientId = 'app' in answer ? answer.app.clientId : '';
    const of = { partnerId: 'spa', clientId };
    expect(await manage({ action: 'rotate', ...of }, 'staff')).toMatchObject({
      secret: expect.stringMatching(/^cs_/),
      app: { clientId },
    });
    const others = [
      await manage({ action: 'list', partnerId: 'spa' }, 'staff'),
      await manage({ action: 'remove', ...of }, 'staff'),
    ];
    expect(JSON.stringify(others)).not.toMatch(/cs_|hash/);
  });

  test('a public app has no secret, and gets none', async () => {
    const answer = await create({ isConfidential: false });
    expect(answer).not.toHaveProperty('secret', expect.anything());
    const clientId = 'app' in answer ? answer.app.clientId : '';
    expect(await manage({ action: 'rotate', partnerId: 'spa', clientId }, 'staff')).toEqual({
      refused: 'public',
    });
  });

  test('escalation: staff neither make a first-party app nor get the secret of one', async () => {
    expect(await create({ isFirstParty: true })).toEqual({ refused: 'firstParty' });
    const clientId = await made({ isFirstParty: true }, 'operator');
    for (const action of ['rotate', 'remove'] as const)
      expect(await manage({ action, partnerId: 'spa', clientId }, 'staff')).toEqual({
        refused: 'firstParty',
      });
    expect(await names('spa')).toEqual(['Guide']);
  });

  test.each<[keyof NewApp, Partial<NewApp>]>([
    ['name', { name: ' ' }],
    ['name', { name: 'a'.repeat(101) }],
    ['name', { name: 'Guide\u0007' }],
    ['name', { name: 'Gu\u202eide' }],
    ['name', { name: 'Guide\u200b' }],
    ['redirectUris', { redirectUris: [] }],
    ['redirectUris', { redirectUris: ['javascript:alert(1)'] }],
    ['redirectUris', { redirectUris: ['https://spa.example/#a'] }],
    ['redirectUris', { redirectUris: [`https://spa.example/${'a'.repeat(2_048)}`] }],
    [
      'redirectUris',
      { redirectUris: Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`) },
    ],
    ['origins', { origins: ['https://spa.example/path'] }],
    ['origins', { origins: ['null'] }],
    ['origins', { origins: ['app://localhost'] }],
    ['origins', { origins: ['*'] }],
    ['origins', { origins: Array.from({ length: 21 }, (_, i) => `https://a${i}.example`) }],
  ])('refused: %s of %j', async (argument, input) => {
    const fault = expect.stringMatching(/^must/);
    expect(await create(input)).toEqual({ refused: 'invalid', argument, fault });
    expect(await names('spa')).toEqual([]);
  });

  test('a partner has a bounded number of apps, and one that members do not know has none', async () => {
    for (let i = 0; i < MAX_APPS; i += 1) await made();
    expect(await create()).toEqual({ refused: 'tooMany' });
    const other = { action: 'create', partnerId: 'inn', ...WEB } as const;
    expect(await manage(other, 'staff')).toEqual({ refused: 'noPartner' });
  });

  describe('the operation', () => {
    const QUERY = 'mutation ($request: String!) { answer: manageApps(request: $request) }';
    const ask = async (caller: Caller, request: object, manageApps?: ManageApps) => {
      const options = { baseAddress: 'https://api.example', wake: () => {}, manageApps };
      const members = createMembers(store, options);
      const execute = createExecutor(members, createLog('silent'), createCaches());
      const variables = { request: JSON.stringify(request) };
      const { data, errors } = await execute({ query: QUERY, variables, caller, requestId: 'r' });
      return errors?.[0]?.extensions.code ?? JSON.parse(String(data?.answer));
    };
    const list = { action: 'list', partnerId: 'spa' };

    test('is for the service alone, and with another identity provider for nobody', async () => {
      expect(await ask({ kind: 'service' }, list, manage)).toEqual({ apps: [] });
      const code = 'INTERNAL_SERVER_ERROR';
      expect(await ask({ kind: 'partner', partnerId: 'spa' }, list, manage)).toBe(code);
      expect(await ask({ kind: 'member', memberId: 'ada' }, list, manage)).toBe(code);
      expect(await ask({ kind: 'service' }, list)).toBe(code);
    });

    test("counts as staff's, whatever the request says", async () => {
      const forged = {
        action: 'create',
        partnerId: 'spa',
        ...WEB,
        isFirstParty: true,
        by: 'operator',
      };
      expect(await ask({ kind: 'service' }, forged, manage)).toEqual({ refused: 'firstParty' });
    });
  });
});
