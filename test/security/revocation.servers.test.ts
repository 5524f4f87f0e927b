// Stolen keys and sessions are stopped: in every gateway, within 5 seconds.
import { setTimeout } from 'node:timers/promises';
import { issueIdToken, type MembersStore } from '@partner-loyalty/members';
import { importJWK, type JWK, SignJWT } from 'jose';
import { type Client, createClient } from '../support/service/client.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { BUILT_IN } from '../support/service/mailbox.ts';
import type { Running } from '../support/service/stack.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const BASE = 'https://loyalty.example';
const PROFILE = 'query ($id: ID!) { memberProfile(id: $id) { memberId } }';

let service: DeployedService;
let second: Running;
let gateways: Client[];
let members: MembersStore;

beforeAll(async () => {
  service = await startDeployed('three processes', { ...BUILT_IN, SANDBOX_URL: BASE });
  second = await service.stack.addGateway();
  gateways = [service.stack.gateway, second].map(({ url }) => createClient(url));
  members = service.stack.stores.members;
});
afterAll(async () => {
  await second.stop();
  await service.close();
});

/** The statuses with which each gateway answers the member's own query. */
const statuses = (token: string) =>
  Promise.all(
    gateways.map(async (send) => {
      const response = await send({ query: PROFILE, variables: { id: 'm-both' }, token });
      return response.status;
    }),
  );
/** Asks a few times a second: the answers until then take from the member's budget. */
const untilRefused = (token: string) =>
  until(async () => {
    await setTimeout(1_000);
    return (await statuses(token)).every((status) => status === 401);
  });
const seconds = () => Math.floor(Date.now() / 1_000);
const newToken = async () => {
  const claims = { memberId: 'm-both', email: 'both@example.com' };
  return (await issueIdToken(members, claims, BASE, new Date())).idToken;
};
const loyalty = async (...args: string[]) => (await loyaltyJson(service.stack.env, ...args))[0];

/** What whoever has read the store can sign. */
async function stealKey() {
  const current = (await members.signingKeys.keys()).find(({ state }) => state === 'current');
  if (current?.state !== 'current') throw new Error('there is no signing key');
  const { kid, privateKey } = current;
  const key = await importJWK(privateKey as JWK, 'RS256');
  const forge = (lifetime: number) =>
    new SignJWT({ iss: BASE, aud: BASE, sub: 'm-both', iat: seconds(), exp: seconds() + lifetime })
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign(key);
  return { kid, forge };
}

test('a stolen key outlives two rotations, until it is revoked', async () => {
  const { kid, forge } = await stealKey();
  const forged = await forge(3_600);
  expect(await statuses(forged)).toEqual([200, 200]);
  await loyalty('tokens', 'rotate-key');
  await loyalty('tokens', 'rotate-key');
  expect(await statuses(await forge(3_600))).toEqual([200, 200]);

  const revoked = await loyalty('tokens', 'revoke-key', kid);
  expect(revoked).toEqual({ revoked: kid, kid: expect.any(String) });
  await untilRefused(forged);
  expect(await statuses(await forge(60))).toEqual([401, 401]);
  expect(await statuses(await newToken())).toEqual([200, 200]);
  const published = await fetch(`${service.stack.gateway.url}/.well-known/jwks.json`);
  expect(await published.text()).not.toContain(kid);
});

test("ending a member's sessions refuses what was issued until now, and nothing after", async () => {
  const before = await newToken();
  expect(await statuses(before)).toEqual([200, 200]);
  await loyalty('tokens', 'revoke', 'm-both');
  const after = await newToken();
  await untilRefused(before);
  expect(await statuses(after)).toEqual([200, 200]);
  await expect(loyalty('tokens', 'revoke', 'm-unknown')).rejects.toThrow('there is no member');
  await expect(loyalty('tokens', 'revoke-key', 'other')).rejects.toThrow('no signing key "other"');
});
