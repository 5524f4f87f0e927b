// The mail worker with a real mail server: it loses no mail, sends none twice, gives up visibly.
import { randomUUID } from 'node:crypto';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics, type Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { type MailServer, startMailServer } from '../../../../test/support/servers/mailserver.ts';
import { until } from '../../../../test/support/until.ts';
import { memberImport, newPlace, type Place } from '../../test/engine.ts';
import type { MembersStore } from '../store/store.ts';
import { openMailer } from './mailer.ts';
import { startMailWorker } from './worker.ts';

const MINUTE = 60_000;

describe('the mail worker', () => {
  let place: Place;
  let store: MembersStore;
  let server: MailServer;
  let workers: ReturnType<typeof startMailWorker>[];
  let metrics: Metrics;
  let lines: (LogFields & { level: string; message: string })[];
  /** How many milliseconds the workers' clock is ahead. */
  let ahead: number;

  beforeEach(async () => {
    [place, server, workers, metrics, lines, ahead] = [
      newPlace(),
      await startMailServer(),
      [],
      createMetrics(),
      [],
      0,
    ];
    store = await place.open();
    const members = Array.from({ length: 10 }, (_, i) =>
      memberImport(`m${i}@example.com`, { enrollments: [{ partnerId: 'inn' }] }),
    );
    await store.importMembers(members);
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await server.down();
    await place.release();
  });

  const clock = () => Date.now() + ahead;
  const start = (on = store) => {
    const mailer = openMailer({
      smtpUrl: server.url,
      mailFrom: 'no-reply@api.example',
      dataDir: '/nowhere',
    });
    const sender = {
      store: on,
      mailer,
      baseAddress: 'https://api.example',
      mailDomain: 'api.example',
    };
    const worker = startMailWorker(sender, { log: recording(lines), metrics, now: clock });
    workers.push(worker);
    return worker;
  };
  const ask = async (i: number, jobId: string = randomUUID()) => {
    await store.outbox.add({
      jobId,
      task: { kind: 'magic-link', partnerId: 'inn', address: `m${i}@example.com` },
      requestedAt: clock(),
    });
    return jobId;
  };
  const counted = async (outcome: string) =>
    Number(
      new RegExp(`^loyalty_mail_total{letter="magic-link",outcome="${outcome}"} (\\d+)`, 'm').exec(
        await metrics.text(),
      )?.[1] ?? 0,
    );

  test('requested mail is sent to the member only, and its job is removed', async () => {
    const worker = start();
    const jobId = await ask(1);
    worker.wake();
    await until(() => server.mails.length > 0);
    expect(server.mails).toEqual([
      expect.objectContaining({
        recipients: ['m1@example.com'],
        messageId: `<${jobId}@api.example>`,
        subject: 'Sign in to inn',
      }),
    ]);
    await until(async () => (await counted('sent')) === 1);
    await worker.stop();
    expect(await store.outbox.claim(clock() + 60 * MINUTE, MINUTE)).toBeUndefined();
  });

  test('mail that another process put into the outbox is sent without a wake-up', async () => {
    const other = await place.open();
    start(other);
    await ask(1);
    await until(() => server.mails.length === 1);
  });

  test('two workers on one outbox send each mail once', async () => {
    const other = await place.open();
    const ids = await Promise.all(Array.from({ length: 30 }, (_, i) => ask(i % 10)));
    for (const worker of [start(), start(other)]) worker.wake();
    await until(async () => (await counted('sent')) === 30);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(server.mails.map(({ messageId }) => messageId).sort()).toEqual(
      ids.map((id) => `<${id}@api.example>`).sort(),
    );
  });

  test('metrics show how much mail waits, and for how long the oldest', async () => {
    await server.down();
    await ask(1);
    ahead += MINUTE;
    await ask(2);
    start();
    const text = await metrics.text();
    expect(text).toContain('\nloyalty_mail_queue 2\n');
    expect(Number(/^loyalty_mail_oldest_seconds (.*)$/m.exec(text)?.[1])).toBeCloseTo(60, -1);
  });

  test('if a worker dies between claiming and sending, the job is sent when the lease ends', async () => {
    await ask(1);
    await store.outbox.claim(clock(), 2 * MINUTE);
    const worker = start();
    worker.wake();
    await ask(2);
    await until(() => server.mails.length === 1);
    expect(server.mails[0]?.recipients).toEqual(['m2@example.com']);
    ahead += 3 * MINUTE;
    worker.wake();
    await until(() => server.mails.length === 2);
    expect(server.mails[1]?.recipients).toEqual(['m1@example.com']);
  });

  test('mail that cannot be sent is given up after about an hour, counted, and logged without content', async () => {
    const givenUp = () => lines.filter(({ message }) => message === 'an email was given up');
    await server.down();
    const worker = start();
    await ask(1);
    let tries = 0;
    await until(async () => {
      worker.wake();
      if ((await counted('retried')) === tries) return (await store.outbox.failed()) > 0;
      tries += 1;
      // The pauses start at 2 seconds and double, up to 10 minutes.
      ahead += Math.min(1_000 * 2 ** tries, 10 * MINUTE);
      return false;
    });
    expect(ahead / MINUTE).toBeGreaterThan(50);
    expect(ahead / MINUTE).toBeLessThan(65);
    await until(async () => (await counted('failed')) === 1 && givenUp().length > 0);
    // An outage is expected: its lines, which the log counts together, have no stack.
    const message = expect.stringMatching(/^an email (was given up|could not be sent yet)$/);
    for (const line of lines)
      expect(line).toEqual({ level: 'outage', reason: 'ECONNREFUSED', message });
    expect(givenUp()).toHaveLength(1);
    await server.up();
    ahead += 60 * MINUTE;
    worker.wake();
    await ask(2);
    await until(() => server.mails.length === 1);
    expect(server.mails[0]?.recipients).toEqual(['m2@example.com']);
  });

  test('mail requested while the server is down is sent when it is up', async () => {
    await server.down();
    const worker = start();
    const jobId = await ask(1);
    worker.wake();
    await until(async () => (await counted('retried')) === 1);
    await server.up();
    ahead += MINUTE;
    worker.wake();
    await until(() => server.mails.length === 1);
    expect(server.mails[0]?.messageId).toBe(`<${jobId}@api.example>`);
  });

  test('metrics are there without the queue if the outbox cannot be read', async () => {
    start();
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await place.closeAll();
    const text = await metrics.text();
    expect(text).toContain('# TYPE loyalty_mail_queue gauge\n# HELP');
    expect(text).toContain('# TYPE loyalty_mail_oldest_seconds gauge\n# HELP');
  });

  test('permanently refused mail is given up at once; temporarily refused mail is tried again', async () => {
    const worker = start();
    server.refuse(550);
    await ask(1);
    worker.wake();
    await until(async () => (await store.outbox.failed()) === 1);
    server.refuse(451);
    await ask(2);
    worker.wake();
    await until(async () => (await counted('retried')) === 1);
    server.refuse(undefined);
    ahead += MINUTE;
    worker.wake();
    await until(() => server.mails.length === 1);
    expect(server.mails[0]?.recipients).toEqual(['m2@example.com']);
  });

  test('stopping waits for mail in progress', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(i)));
    const worker = start();
    await until(() => server.mails.length > 0);
    await worker.stop();
    const sent = server.mails.length;
    expect(await counted('sent')).toBe(sent);
    expect(await store.outbox.claim(clock(), MINUTE)).toBeUndefined();
  });
});

function recording(lines: (LogFields & { level: string; message: string })[]): Log {
  const write = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ ...fields, level, message });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    outage: write('outage'),
    recovered: write('info'),
    refused: write('refused'),
    infoJson: () => {},
    flush: () => {},
  };
}
