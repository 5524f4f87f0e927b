// `loyalty tokens` as an operator runs it: as a process, beside a running service.
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { createClient } from '../../../test/support/service/client.ts';
import { type Ran, spawnLoyalty } from '../../../test/support/service/loyalty.ts';
import { startService } from '../../../test/support/service/npmstart.ts';

const PROFILE =
  'query ($id: ID!) { memberProfile(id: $id) { memberId partnerStandings { partnerId } } }';
const json = ({ code, stdout, stderr }: Ran) => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

test('a token issued beside the service reads its profile, also after a key rotation', async () => {
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder.path };
  // The command in the other shell does not know this address.
  const address = 'http://loyalty.example:8080';
  const service = await startService({ ...env, SANDBOX_URL: address });
  try {
    const ask = createClient(new URL(service.endpoint).origin);
    const reads = async (token: string) => {
      const { body } = await ask({ query: PROFILE, variables: { id: 'demo-001' }, token });
      expect(body).toMatchObject({
        data: { memberProfile: { memberId: 'demo-001', partnerStandings: [{}, {}] } },
      });
    };

    const { idToken: first } = json(
      await spawnLoyalty(env, 'tokens', 'issue', 'demo-001', '--json').ran,
    );
    expect(decodeJwt(first)).toEqual({
      iss: address,
      aud: address,
      sub: 'demo-001',
      email: 'Teal.Heron@example.com',
      iat: expect.any(Number),
      exp: (decodeJwt(first).iat ?? 0) + 3_600,
    });
    await reads(first);

    const { kid } = json(await spawnLoyalty(env, 'tokens', 'rotate-key', '--json').ran);
    const alone = await spawnLoyalty(env, 'tokens', 'issue', 'demo-001').ran;
    expect(alone).toEqual({ code: 0, stdout: expect.stringMatching(/^\S+\n$/), stderr: '' });
    const second = alone.stdout.trim();
    expect([decodeProtectedHeader(second).kid, decodeProtectedHeader(first).kid === kid]).toEqual([
      kid,
      false,
    ]);
    await reads(second);
    await reads(first);

    expect(await spawnLoyalty(env, 'tokens', 'issue', 'demo-999').ran).toEqual({
      code: 1,
      stdout: '',
      stderr: 'loyalty: there is no member "demo-999"\n',
    });
  } finally {
    await service.kill();
    folder.remove();
  }
});

test('a token can be issued before any service ran, for its environment', async () => {
  const folder = temporaryFolder();
  const env = {
    DATA_DIR: folder.path,
    ENVIRONMENT: 'production',
    PRODUCTION_URL: 'https://api.example',
  };
  const imported = spawnLoyalty(env, 'members', 'import', '-');
  imported.child.stdin.end('{"memberId":"ada","email":"ada@example.com"}\n');
  expect(await imported.ran).toMatchObject({ code: 0 });
  const { idToken } = json(await spawnLoyalty(env, 'tokens', 'issue', 'ada', '--json').ran);
  expect(decodeJwt(idToken)).toMatchObject({
    iss: 'https://api.example',
    aud: 'https://api.example',
    sub: 'ada',
  });
  folder.remove();
});
