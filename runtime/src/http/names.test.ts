// Looking up names that strangers chose.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
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
const lookUp = (...options: Parameters<typeof lookUpUntrusted>) =>
  Promise.all(lookUpUntrusted(...options));

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

describe('files of the system and search domains', () => {
  /** A folder with these files. */
  const etc = (files: Record<string, string> = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'etc-'));
    closing.push(() => rmSync(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  };
  const SEARCH = { 'resolv.conf': 'domain a.example\nsearch b.example  c.example # d.example\n' };
  const KNOWN: Record<string, string[]> = {
    own: ['192.0.2.1'],
    'own.b.example': ['192.0.2.2', '2001:db8::2'],
    'short.b.example': ['2001:db8::3'],
    'short.c.example': ['192.0.2.4'],
    'last.c.example': ['192.0.2.5'],
    'hangs.b.example': ['192.0.2.6'],
    'dot.b.example': ['192.0.2.7'],
    'other.a.example': ['192.0.2.8'],
    'other.d.example': ['192.0.2.9'],
  };
  const known = () =>
    dns((name) => (name === 'hangs' ? undefined : (KNOWN[name] ?? 'no such name')), 20_000);

  test.each<[string, string[], string[]]>([
    ['own', [], ['192.0.2.1']],
    ['short', ['2001:db8::3'], []],
    ['last', [], ['192.0.2.5']],
    ['hangs', [], ['192.0.2.6']],
  ])(
    '%s has the addresses of the first name that has any, without a thread',
    async (name, ...of) => {
      const resolver = await known();
      holdThreads();
      expect(await lookUp(name, resolver, etc(SEARCH))).toEqual(of);
    },
  );

  test.each(['dot.', 'other', 'nobody'])('%s has none', async (name) => {
    await expect(lookUp(name, await known(), etc(SEARCH))).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
  });

  test('a name is looked up alone if there are no files', async () => {
    const resolver = await known();
    expect(await lookUp('own', resolver, etc())).toEqual([[], ['192.0.2.1']]);
    await expect(lookUp('last', resolver, etc())).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test('at most 6 search domains count', async () => {
    const domains = Array.from({ length: 7 }, (_, n) => `d${n}.example`);
    const asked = new Set<string>();
    const resolver = await dns((name) => {
      asked.add(name);
      return 'no such name';
    });
    const folder = etc({ 'resolv.conf': `search ${domains.join(' ')}` });
    await expect(lookUp('short', resolver, folder)).rejects.toThrow();
    expect([...asked].sort()).toEqual([
      'short',
      ...domains.slice(0, 6).map((domain) => `short.${domain}`),
    ]);
  });

  test('the file of hosts comes first, and needs no name server', async () => {
    const hosts = '# 192.0.2.1 a\n192.0.2.2\tOwn a # b\n::2 own\n192.0.2.3 own\n';
    const resolver = await known();
    const folder = etc({ ...SEARCH, hosts });
    expect(await lookUp('own', resolver, folder)).toEqual([['::2'], ['192.0.2.2', '192.0.2.3']]);
    expect(await lookUp('a', resolver, folder)).toEqual([[], ['192.0.2.2']]);
    await expect(lookUp('b', resolver, folder)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});
