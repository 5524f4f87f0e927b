// What sign prints passes a subgraph's verifier, whatever a shell makes of its words.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVerifier } from '../../../../examples/offers-apollo/signature.ts';
import { type Folder, temporaryFolder } from '../../../../test/support/folder.ts';
import { loyalty } from '../../../../test/support/service/loyalty.ts';

const SECRET = 'the secret of offers';
const env = { OFFERS_SECRET: SECRET };
const URL_OPTION = ['--url', 'http://localhost:4021'];
let folder: Folder;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

const sign = (...args: string[]) => loyalty(env, 'supergraph', 'sign', 'offers', ...args);

/** The words that a shell passes to curl. */
function wordsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  return spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout.split('\0').slice(0, -1);
}

/** The request that curl sends, and whose data it may see, according to the example's verifier. */
async function signed(...args: string[]) {
  const { code, stdout, stderr } = await sign(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const words = wordsOf(stdout);
  const headers: Record<string, string> = {};
  for (const [index, word] of words.entries()) {
    const [, name = '', value = ''] =
      (word === '-H' && /^(.*?): (.*)$/.exec(words[index + 1] ?? '')) || [];
    if (name !== '') headers[name] = value;
  }
  const [kind, data = ''] = words.slice(-2);
  const body = kind === '--data-binary' ? readFileSync(data.slice(1)) : Buffer.from(data);
  const url = words.find((word) => word.startsWith('http')) ?? '';
  const verify = createVerifier('offers', [SECRET]);
  const request = { method: 'POST', path: new URL(url).pathname, headers, body };
  return { url, body: body.toString(), scope: verify(request), again: verify(request) };
}

test('a request is signed for the service, and valid once', async () => {
  expect(await signed(...URL_OPTION)).toEqual({
    url: 'http://localhost:4021/graphql',
    body: '{"query":"{__typename}"}',
    scope: { kind: 'service' },
    again: undefined,
  });
});

test.each([
  ['quotes', `{ offer(offerId: "it's") { title } }`],
  ['what shells expand', '{ a: $HOME `id` $(id) \\ !! * "é" }'],
  ['lines', '{\n  offer\n}'],
])('%s in a query reach the subgraph as they are', async (_, query) => {
  const { body, scope } = await signed(...URL_OPTION, '--query', query);
  expect(JSON.parse(body)).toEqual({ query });
  expect(scope).toEqual({ kind: 'service' });
});

test('the scope is as in the header, with quotes in an ID', async () => {
  const scope = 'kind=member, member="o\'\\"neil", partner="acme"';
  const { scope: seen } = await signed(...URL_OPTION, '--scope', scope);
  expect(seen).toEqual({ kind: 'member', member: 'o\'"neil', partner: 'acme' });
});

test('a body is sent as it is given, and a file as its bytes', async () => {
  const body = '[{"query":"{__typename}"}]';
  const path = join(folder.path, "it's a body.json");
  writeFileSync(path, `${body}\n`);
  const batch = ['--scope', 'kind=batch'];
  const given = await signed(...URL_OPTION, ...batch, '--body', body);
  const read = await signed(...URL_OPTION, ...batch, '--body', `@${path}`);
  expect([given.body, read.body]).toEqual([body, `${body}\n`]);
  expect([given.scope, read.scope]).toEqual([{ kind: 'batch' }, { kind: 'batch' }]);
});

test.each([
  ['a scope that adds a header', 'kind=service\r\nx: y'],
  ['a scope that no gateway sends', 'kind=admin'],
])('%s is refused', async (_, scope) => {
  const { code, stderr } = await sign(...URL_OPTION, '--scope', scope);
  expect(code).toBe(1);
  expect(stderr).toContain('--scope must be as in the header');
});

test('without a secret, the message names the variable', async () => {
  const { stderr } = await loyalty({}, 'supergraph', 'sign', 'offers', ...URL_OPTION);
  expect(stderr).toBe('loyalty: OFFERS_SECRET must be set: it signs the request\n');
});
