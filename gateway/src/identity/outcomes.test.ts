// A form that is sent twice, at several gateways on one store, while processes fail.
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Table } from '@partner-loyalty/runtime/store/table.ts';
import { withFakeDate } from '../../../test/support/clock.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { type OpenedTables, openTables } from '../../../test/support/store/tables.ts';
import { createOnce, OUTCOMES, type Outcome, type SentForm } from './outcomes.ts';

const SECRET = 'pk_test_secret';
const PAGE: HttpResponse = {
  status: 200,
  headers: { 'set-cookie': ['a=b', 'c=d'], 'referrer-policy': 'same-origin' },
  body: `<p>${SECRET}</p>`,
};

describe('on the embedded store', () => {
  let place: ReturnType<typeof emptyPlace>;
  let store: OpenedTables;
  let table: Table<Outcome>;
  let gateways: ReturnType<typeof createOnce>[];
  beforeAll(async () => {
    place = emptyPlace();
    store = await openTables(place.settings, [OUTCOMES]);
    table = await store.open(OUTCOMES);
    gateways = [createOnce(async () => table), createOnce(async () => table)];
  });
  afterAll(async () => {
    await store.close();
    await place.release();
  });

  let made = 0;
  const newForm = (): SentForm => {
    made += 1;
    return { formId: `form-${made}`, key: Buffer.alloc(32, made).toString('base64'), client: 'c' };
  };
  const send = (form: SentForm, handle: Parameters<(typeof gateways)[0]>[1], gateway = 0) =>
    (gateways[gateway] ?? createOnce(async () => table))(form, handle);
  const never = () => Promise.reject(new Error('handled twice'));

  test('leads where it led first, cookies included, at every gateway', async () => {
    const form = newForm();
    expect(await send(form, async () => PAGE)).toEqual(PAGE);
    expect([await send(form, never), await send(form, never, 1)]).toEqual([PAGE, PAGE]);
    const redirect = { status: 303, headers: { location: '/account' }, body: '' };
    const other = newForm();
    await send(other, async () => redirect);
    expect(await send(other, never, 1)).toEqual(redirect);
  });

  test('is handled once while it is still being handled, here and elsewhere', async () => {
    const form = newForm();
    let finish = (_: HttpResponse) => {};
    let times = 0;
    const handle = () => {
      times += 1;
      return new Promise<HttpResponse>((resolve) => {
        finish = resolve;
      });
    };
    const sent = [0, 1, 0, 1].map((gateway) => send(form, handle, gateway));
    while (times === 0) await new Promise(setImmediate);
    finish(PAGE);
    expect(await Promise.all(sent)).toEqual([PAGE, PAGE, PAGE, PAGE]);
    expect(times).toBe(1);
  });

  test.each([400, 403, 429, 500, 503])('can be sent again after a %i', async (status) => {
    const form = newForm();
    expect((await send(form, async () => ({ ...PAGE, status }))).status).toBe(status);
    expect(await send(form, async (isAgain) => ({ ...PAGE, body: `${isAgain}` }))).toEqual({
      ...PAGE,
      body: 'false',
    });
  });

  test('can be sent again after what it asks for has failed', async () => {
    const form = newForm();
    await expect(send(form, () => Promise.reject(new Error('outage')))).rejects.toThrow('outage');
    expect(await send(form, async () => PAGE, 1)).toEqual(PAGE);
  });

  test('says so to the next process if one was killed, whose work nobody knows', async () => {
    const form = newForm();
    const [now, { formId }] = [Date.now(), form];
    await table.put({ formId, expiresAt: now + 60_000, busyUntil: now });
    expect(await send(form, async (isAgain) => ({ ...PAGE, body: `${isAgain}` }))).toMatchObject({
      body: 'true',
    });
    expect(await send(form, never, 1)).toMatchObject({ body: 'true' });
  });

  test('a duplicate that is handled too late leaves the first outcome', async () => {
    const form = newForm();
    const { formId } = form;
    const late = await send(form, async () => {
      await table.put({ formId, expiresAt: Date.now() + 60_000, busyUntil: 0 });
      expect(await send(form, async () => PAGE, 1)).toEqual(PAGE);
      return { ...PAGE, status: 410 };
    });
    expect(late.status).toBe(410);
    expect(await send(form, never)).toEqual(PAGE);
  });

  test('a duplicate that fails too late leaves the one that is being handled', async () => {
    const form = newForm();
    const { formId } = form;
    let finish = (_: HttpResponse) => {};
    let third: Promise<HttpResponse> | undefined;
    await send(form, async () => {
      await table.put({ formId, expiresAt: Date.now(), busyUntil: 0 });
      await new Promise<void>((begun) => {
        const handle = () =>
          new Promise<HttpResponse>((resolve) => {
            finish = resolve;
            begun();
          });
        third = send(form, handle, 1);
      });
      return { ...PAGE, status: 410 };
    });
    const fourth = send(form, never);
    finish(PAGE);
    expect(await Promise.all([third, fourth])).toEqual([PAGE, PAGE]);
  });

  test('is forgotten after a minute', () =>
    withFakeDate(async (advance) => {
      const form = newForm();
      await send(form, async () => PAGE);
      advance(59_000);
      expect(await send(form, never)).toEqual(PAGE);
      advance(2_000);
      const later = { ...PAGE, body: 'later' };
      expect(await send(form, async () => later)).toEqual(later);
    }));

  test('what is stored says nothing, and opens with no other key', async () => {
    const form = newForm();
    await send(form, async () => PAGE);
    const stored = await table.get(form.formId);
    expect(Object.keys(stored ?? {}).sort()).toEqual([
      'busyUntil',
      'expiresAt',
      'formId',
      'sealed',
    ]);
    expect(JSON.stringify(stored)).not.toMatch(/pk_test|a=b/);
    const key = Buffer.alloc(32, 99).toString('base64');
    await expect(send({ ...form, key }, never)).rejects.toThrow();
  });

  test('floods and large pages are handled, and not kept', async () => {
    await table.removeWhere(() => true);
    const flood = createOnce(async () => table);
    const forms = Array.from({ length: 125 }, () => ({ ...newForm(), client: 'd' }));
    await Promise.all(forms.map((form) => flood(form, async () => PAGE)));
    expect(await table.count('expiresAt')).toBe(120);
    const large = { ...PAGE, body: 'x'.repeat(300_000) };
    const form = newForm();
    expect(await send(form, async () => large)).toEqual(large);
    expect(await table.get(form.formId)).toBeUndefined();
  });

  test('without the store, forms are handled as they come', async () => {
    const once = createOnce(() => Promise.reject(new Error('down')));
    expect(await once(newForm(), async () => PAGE)).toEqual(PAGE);
  });
});
