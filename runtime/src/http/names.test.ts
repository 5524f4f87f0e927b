// Looking up names that strangers chose.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDns } from '../../../test/support/servers/dns.ts';
import { lookUpUntrusted } from './names.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const dns = async (...options: Parameters<typeof startDns>) => {
  const started = await startDns(...options);
  closing.push(started.close);
  return started.resolver;
};
/** How many names the system is looking up. */
const atSystem = () =>
  process.getActiveResourcesInfo().filter((type) => type === 'GetAddrInfoReqWrap').length;
const lookUp = (name: string, resolver: Parameters<typeof lookUpUntrusted>[1]) =>
  Promise.all(lookUpUntrusted(name, resolver));

/** Keeps every thread that getaddrinfo needs busy until the function that it returns is called. */
function holdThreads(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'threads-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const readers = Array.from({ length: 4 }, () => open(pipe, 'r'));
  let writer: number | undefined;
  const release = () => {
    writer ??= openSync(pipe, constants.O_RDWR);
  };
  closing.push(async () => {
    release();
    for (const reader of await Promise.all(readers)) await reader.close();
    if (writer !== undefined) closeSync(writer);
    rmSync(folder, { recursive: true });
  });
  return release;
}

test('a name that hangs neither reaches the system nor holds up another one', async () => {
  const resolver = await dns((name) => (name === 'hangs.example' ? undefined : ['192.0.2.1']), 250);
  const hanging = lookUp('hangs.example', resolver);
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, atSystem());
  });
  closing.push(() => clearInterval(watching));
  const first = await Promise.race([
    hanging.catch(() => 'hangs.example'),
    lookUp('answers.example', resolver),
  ]);
  expect(first).toEqual([[], ['192.0.2.1']]);
  await expect(hanging).rejects.toMatchObject({ code: 'ETIMEOUT' });
  expect(most).toBe(0);
});

test('addresses that DNS knows need no thread', async () => {
  holdThreads();
  const resolver = await dns((_, __, family) => (family === 4 ? ['192.0.2.1'] : ['2001:db8::1']));
  expect(await lookUp('offers.example', resolver)).toEqual([['2001:db8::1'], ['192.0.2.1']]);
});

test.each(['localhost', 'localhost.', 'offers.localhost'])(
  '%s needs no name server',
  async (name) => {
    const resolver = await dns(() => ['192.0.2.1']);
    expect(await lookUp(name, resolver)).toEqual([['::1'], ['127.0.0.1']]);
  },
);

describe('a name that DNS does not know', () => {
  // These need no name server: the system reads them as addresses.
  const NAMES = ['127.1', '127.2', '127.3', '127.4', '127.5'];
  const KNOWN = 'known.example';

  test.each([['no such name' as const], [[]]])(
    'is looked up by the system, one at a time: %s',
    async (said) => {
      const release = holdThreads();
      const resolver = await dns((name) => (name === KNOWN ? ['192.0.2.1'] : said));
      const all = NAMES.map((name) => lookUp(name, resolver));
      // Its answer comes after those for the others.
      await lookUp(KNOWN, resolver);
      expect(atSystem()).toBe(1);
      release();
      expect(await Promise.all(all)).toEqual(
        NAMES.map((name) => [[name.replace('.', '.0.0.')], []]),
      );
    },
  );

  test('is looked up by the system if there is no name server', async () => {
    const resolver = await dns(() => undefined);
    resolver.setServers(['127.0.0.1:9']);
    expect(await lookUp('127.1', resolver)).toEqual([['127.0.0.1'], []]);
  });

  test('is not looked up if its turn comes when nobody waits any more', async () => {
    const release = holdThreads();
    const resolver = await dns((name) => (name === KNOWN ? ['192.0.2.1'] : 'no such name'));
    const first = lookUp('127.1', resolver);
    const second = lookUp('127.2', resolver);
    await lookUp(KNOWN, resolver);
    const later = performance.now() + 2_500;
    const now = jest.spyOn(performance, 'now').mockImplementation(() => later);
    closing.push(() => now.mockRestore());
    release();
    expect(await first).toEqual([['127.0.0.1'], []]);
    await expect(second).rejects.toThrow('other names took too long');
    expect(await lookUp('127.3', resolver)).toEqual([['127.0.0.3'], []]);
  });
});
