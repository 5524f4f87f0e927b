// The members subgraph with a real mail server, for tests of signing in and of changing an address.
import { setTimeout } from 'node:timers/promises';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics, type Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import type { Caller, Transport } from '@partner-loyalty/runtime/transport/types.ts';
import {
  type MailServer,
  startMailServer,
  tokenIn,
} from '../../../test/support/servers/mailserver.ts';
import { until } from '../../../test/support/until.ts';
import { type MembersExtension, type MembersStore, startMembers } from '../src/index.ts';
import type { SigningKey } from '../src/signingkeys/signingkey.ts';
import { memberImport, newPlace, type Place } from './engine.ts';

export const BASE = 'https://api.example';
export const SERVICE: Caller = { kind: 'service' };
export const partner = (partnerId: string): Caller => ({ kind: 'partner', partnerId });
export const member = (memberId: string, partnerId?: string): Caller => ({
  kind: 'member',
  memberId,
  ...(partnerId !== undefined && { partnerId }),
});

export const REQUEST =
  'mutation ($email: String!) { answer: requestMagicLink(email: $email) { accepted } }';
export const EXCHANGE =
  'mutation ($token: String!) { answer: exchangeMagicLink(token: $token) { memberId idToken expiresAt } }';
export const REQUEST_CHANGE =
  'mutation ($email: String!) { answer: requestEmailChange(email: $email) { accepted } }';
export const CONFIRM_OWN =
  'mutation ($token: String!) { answer: confirmEmailChange(token: $token) { memberId email activePartnerIds } }';
export const SIGN_IN =
  'mutation ($token: String!) { answer: signIn(token: $token) { memberId idToken expiresAt } }';
export const CONFIRM =
  'mutation ($token: String!) { answer: confirmChange(token: $token) { memberId email } }';
export const UNDO =
  'mutation ($token: String!) { answer: undoChange(token: $token) { memberId email } }';
export const INVITE =
  'mutation ($input: EnrollMemberInput!) { answer: inviteMember(input: $input) { accepted } }';
export const INVITATION =
  'query ($token: String!) { answer: invitation(token: $token) { partnerName email } }';
export const ACCEPT =
  'mutation ($token: String!) { answer: acceptInvitation(token: $token) { partnerName email } }';
export const ENROLL =
  'mutation ($input: EnrollMemberInput!) { answer: enrollMember(input: $input) { created } }';
export const CONTEST = 'mutation ($token: String!) { answer: contestUndo(token: $token) }';
const ACCEPTED = { accepted: true };

export type SignInStage = {
  place: Place;
  store: MembersStore;
  server: MailServer;
  transport: Transport;
  metrics: Metrics;
  /** Sends an operation and returns its result, or its error code. */
  ask(
    caller: Caller,
    query: string,
    variables?: Record<string, unknown>,
  ): Promise<string | Record<string, string>>;
  /** Returns the token of the next mail to an address that arrives after `act`. */
  mailed(to: string, act: () => Promise<unknown>): Promise<string>;
  /** Requests a magic link and returns its token. */
  link(partnerId?: string, email?: string): Promise<string>;
  /** Requests a change of address and returns its token. */
  change(email: string, memberId?: string): Promise<string>;
  release(): Promise<void>;
};

/** The signing keys of the first stage, which the later ones have too. */
let knownKeys: readonly SigningKey[] | undefined;

/**
 * Starts the subgraph with two members: ada, enrolled with inn and spa, and bob, enrolled with spa.
 */
export async function startSignIn(extensions: MembersExtension[] = []): Promise<SignInStage> {
  const place = newPlace();
  const server = await startMailServer();
  const store = await place.open();
  await store.importMembers([
    memberImport('Ada@Example.com', {
      memberId: 'ada',
      firstName: 'Ada',
      enrollments: [{ partnerId: 'inn' }, { partnerId: 'spa' }],
    }),
    memberImport('bob@example.com', { memberId: 'bob', enrollments: [{ partnerId: 'spa' }] }),
  ]);
  // Two keys for RS256 take longer to make than most tests run.
  await store.signingKeys.change('provider-rs256', () => knownKeys && [...knownKeys]);
  const metrics = createMetrics();
  const transport = await startTransport(place, server, { metrics, extensions });
  knownKeys ??= await store.signingKeys.keysIn('provider-rs256');

  const ask: SignInStage['ask'] = async (caller, query, variables = {}) => {
    // What `store` has written, the subgraph's own store sees in the next turn at the latest.
    await setTimeout(1);
    const { data, errors } = await transport.execute({ query, variables, caller, requestId: 'r1' });
    return errors?.[0]?.extensions.code ?? (data?.answer as Record<string, string>);
  };
  const mailed: SignInStage['mailed'] = async (to, act) => {
    const before = server.mails.length;
    await act();
    let text: string | undefined;
    await until(() => {
      const isSent = ({ recipients }: MailServer['mails'][0]) =>
        recipients[0]?.toLowerCase() === to.toLowerCase();
      text = server.mails.slice(before).find(isSent)?.text;
      return text !== undefined;
    });
    return tokenIn(text);
  };
  return {
    place,
    store,
    server,
    transport,
    metrics,
    ask,
    mailed,
    link: (partnerId = 'inn', email = 'ada@example.com') =>
      mailed(email, async () =>
        expect(await ask(partner(partnerId), REQUEST, { email })).toEqual(ACCEPTED),
      ),
    change: (email, memberId = 'ada') =>
      mailed(email, async () =>
        expect(await ask(member(memberId), REQUEST_CHANGE, { email })).toEqual(ACCEPTED),
      ),
    async release() {
      await transport.close();
      await server.down();
      await place.release();
    },
  };
}

async function startTransport(
  place: Place,
  server: MailServer,
  parts: { metrics: Metrics; extensions: MembersExtension[] },
): Promise<Transport> {
  const settings = {
    ...readSettings({ SUBGRAPH_SECRET: 'a secret of the tests' }, 'members'),
    environment: 'production' as const,
    sandboxUrl: 'https://sandbox.example',
    productionUrl: BASE,
    smtpUrl: server.url,
    mailFrom: 'Loyalty <no-reply@api.example>',
    dataDir: place.settings.dataDir,
  };
  const log = createLog('silent');
  const subgraph = await startMembers(await place.open(), settings, { log, ...parts });
  // Without the deadline of a transport, which a loaded machine misses.
  const execute = createExecutor(subgraph, log, createCaches());
  return { execute, ready: () => subgraph.ready(), close: () => subgraph.close() };
}
