// Notices to staff: when they are due, who receives them, and each sent once.
import { issueKey, type KeyLimits } from '@partner-loyalty/gateway/identity/apikey.ts';
import type { KeyStore } from '@partner-loyalty/gateway/identity/keystore.ts';
import { inviteStaff, joinStaff, keepLanguage } from '@partner-loyalty/gateway/identity/staff.ts';
import { openKeyStore } from '@partner-loyalty/gateway/stores.ts';
import type { StaffNotice } from '@partner-loyalty/runtime/signin/staff.ts';
import type { SubgraphRequest } from '@partner-loyalty/runtime/transport/types.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { sendNotices } from './notices.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.parse('2031-05-17T10:00:00Z');

describe('notices to staff', () => {
  let store: KeyStore;
  let release: () => unknown;
  let mailed: StaffNotice[];
  let isDown: boolean;
  let failing: { webhookId: string; partnerId: string; host: string; failingSince: number }[];
  let disabled: { webhookId: string; partnerId: string; host: string; disabledAt: number }[];
  beforeEach(async () => {
    const place = emptyPlace();
    release = place.release;
    store = await openKeyStore({ ...place.settings, environment: 'sandbox' });
    mailed = [];
    disabled = [];
    failing = [];
    isDown = false;
    await store.createPartner({ partnerId: 'inn', name: 'The Inn', createdAt: new Date(NOW) });
    await join('inn', 'eve@inn.example');
  });
  afterEach(async () => {
    await store.close();
    await release();
  });

  async function invite(partnerId: string, email: string) {
    const tables = await store.staffTables();
    const staff = await inviteStaff(tables, { partnerId, email, role: 'viewer' });
    if (typeof staff === 'string') throw new Error(staff);
    return staff.staffId;
  }
  async function join(partnerId: string, email: string) {
    const staffId = await invite(partnerId, email);
    await joinStaff(await store.staffTables(), staffId);
    return staffId;
  }
  /** A key of the inn by its days, before and after now. */
  async function addKey(age: number, left: number, more: KeyLimits = {}): Promise<string> {
    const limits = { expiresAt: new Date(NOW + left * DAY), ...more };
    const { record } = issueKey('sandbox', 'inn', new Date(NOW - age * DAY), limits);
    await store.createKey(record);
    return record.keyId;
  }
  const parts = () => ({
    keyStore: store,
    members: {
      async mailStaff(notice: StaffNotice) {
        if (isDown) throw new Error('members is away');
        mailed.push(notice);
      },
    },
    graphs: {
      askFeed: async ({ query, variables }: SubgraphRequest) => {
        const until = Number(variables?.time);
        const due = failing.filter(({ failingSince }) => failingSince <= until);
        return query.includes('failingWebhooks')
          ? { data: { failingWebhooks: JSON.stringify(due) } }
          : { data: { disabledWebhooks: JSON.stringify(disabled) } };
      },
    },
  });
  /** The notices that are mailed at a time. */
  async function sent(at = NOW): Promise<string[]> {
    mailed = [];
    await sendNotices(parts(), at).catch(() => undefined);
    return mailed.map(({ noticeId }) => noticeId).sort();
  }

  test('14 and 3 days before a key expires, once, with its ID and name, to all staff', async () => {
    const keyId = await addKey(30, 14, { name: 'Tills' });
    const staffId = await join('inn', 'Bob@inn.example');
    await join('spa', 'spa@example.com');
    await keepLanguage(await store.staffTables(), 'bob@inn.example', 'de');
    expect(await sent(NOW - 1)).toEqual([]);
    expect(await sent()).toEqual([`${keyId}/14`]);
    expect(mailed).toEqual([
      {
        noticeId: `${keyId}/14`,
        letter: 'keyExpires',
        partnerId: 'inn',
        about: `"Tills" (${keyId})`,
        until: NOW + 14 * DAY,
        recipients: [expect.anything(), expect.anything()],
      },
    ]);
    expect(mailed[0]?.recipients).toContainEqual({
      staffId,
      address: 'bob@inn.example',
      email: 'Bob@inn.example',
      language: 'de',
    });
    expect(mailed[0]?.recipients.map(({ address }) => address).sort()).toEqual([
      'bob@inn.example',
      'eve@inn.example',
    ]);
    expect(await sent(NOW + HOUR)).toEqual([]);
    expect(await sent(NOW + 11 * DAY)).toEqual([`${keyId}/3`]);
    expect(await sent(NOW + 11 * DAY + HOUR)).toEqual([]);
  });

  test('spam: whoever was added to the staff gets none before signing in there', async () => {
    const staffId = await invite('inn', 'stranger@example.com');
    const others = () => mailed[0]?.recipients.filter(({ address }) => !address.startsWith('eve'));
    await addKey(30, 14);
    await sent();
    expect(others()).toEqual([]);
    await joinStaff(await store.staffTables(), staffId);
    await addKey(30, 14);
    await sent();
    expect(others()).toMatchObject([{ staffId, address: 'stranger@example.com' }]);
  });

  test('a day before the creation of a key is none, nor one that a rotation moves back', async () => {
    await addKey(0.1, 13.9);
    const short = await addKey(2.1, 2.9);
    const rotated = await addKey(30, 60);
    await store.expireKey(rotated, new Date(NOW + 7 * DAY));
    await addKey(0, 14);
    expect(await sent()).toEqual([`${short}/3`]);
    expect(await sent(NOW + 4 * DAY)).toEqual([`${rotated}/3`]);
  });

  test('none about a key that is revoked or expired, nor to a suspended partner', async () => {
    await store.revokeKey(await addKey(30, 14), new Date(NOW));
    await addKey(30, 0);
    expect(await sent()).toEqual([]);
    await store.changePartner('inn', { suspendedAt: new Date(NOW) });
    await addKey(30, 3);
    disabled = [{ webhookId: 'wh_1', partnerId: 'inn', host: 'inn.example', disabledAt: NOW }];
    expect(await sent()).toEqual([]);
  });

  test('when an endpoint is disabled, and when it is disabled again', async () => {
    const endpoint = { webhookId: 'wh_1', partnerId: 'inn', host: 'inn.example' };
    disabled = [{ ...endpoint, disabledAt: NOW }];
    expect(await sent()).toEqual([`wh_1/${NOW}`]);
    expect(mailed[0]).toMatchObject({ letter: 'webhookDisabled', about: 'wh_1' });
    expect(await sent(NOW + HOUR)).toEqual([]);
    disabled = [{ ...endpoint, disabledAt: NOW + HOUR }];
    expect(await sent(NOW + HOUR)).toEqual([`wh_1/${NOW + HOUR}`]);
  });

  test('an hour after an endpoint began to fail, once until it is disabled, and when it fails again', async () => {
    const endpoint = { webhookId: 'wh_1', partnerId: 'inn', host: 'inn.example' };
    failing = [{ ...endpoint, failingSince: NOW }];
    expect(await sent(NOW + HOUR - 1)).toEqual([]);
    expect(await sent(NOW + HOUR)).toEqual([`wh_1/failing/${NOW}`]);
    expect(mailed[0]).toMatchObject({ letter: 'webhookFailing', about: 'wh_1' });
    for (let day = 1; day <= 5; day += 1) expect(await sent(NOW + day * DAY)).toEqual([]);
    failing = [{ ...endpoint, failingSince: NOW + 6 * DAY }];
    expect(await sent(NOW + 6 * DAY + HOUR)).toEqual([`wh_1/failing/${NOW + 6 * DAY}`]);
  });

  test('several gateways at the same time mail a notice once', async () => {
    const keyId = await addKey(30, 3);
    await Promise.all(Array.from({ length: 5 }, () => sendNotices(parts(), NOW)));
    expect(mailed.map(({ noticeId }) => noticeId)).toEqual([`${keyId}/3`]);
  });

  test('while members is away, or a gateway ended before the mail, it is tried for a day', async () => {
    const keyId = await addKey(30, 3);
    isDown = true;
    expect(await sent()).toEqual([]);
    isDown = false;
    // Whoever has begun may still be at it.
    expect(await sent(NOW + 59_000)).toEqual([]);
    expect(await sent(NOW + 60_000)).toEqual([`${keyId}/3`]);
    await addKey(30, 3);
    expect(await sent(NOW + DAY)).toEqual([]);
  });

  test('what was mailed is forgotten some time after it was due', async () => {
    await addKey(30, 3);
    await sent();
    const { notices } = await store.staffTables();
    await sent(NOW + DAY);
    expect(await notices.count('until')).toBe(1);
    await sent(NOW + 2 * DAY);
    expect(await notices.count('until')).toBe(0);
  });
});
