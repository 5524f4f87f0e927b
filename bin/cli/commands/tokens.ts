// `loyalty tokens`: ID tokens of the built-in provider, and the keys that sign them.

import {
  ensureSigningKey,
  issueIdToken,
  revokeSigningKey,
  rotateSigningKey,
} from '@partner-loyalty/members';
import { endingSessions } from '@partner-loyalty/members/signingkeys/endedsessions.ts';
import { commandGroup, MEMBER } from '../shell/argument.ts';
import { noSuch, type Shell } from '../shell/shell.ts';
import { changeMembers, requireMember, withStore } from '../shell/stores.ts';

export function tokensCommand(shell: Shell) {
  const { group, add } = commandGroup('tokens', 'manage ID tokens of the built-in provider');
  add('issue', 'issue an ID token of a member, valid for an hour', MEMBER).action(
    (memberId: string) => issue(shell, memberId),
  );
  add('rotate-key', 'sign with the next key from now on; tokens signed before stay valid').action(
    () => rotateKey(shell),
  );
  add('revoke-key', 'refuse all tokens that a key has signed, within 5 seconds', {
    '<kid>': "the key's ID",
  }).action((kid: string) => revokeKey(shell, kid));
  add('revoke', 'end all sessions of a member, within 5 seconds', MEMBER).action(
    (memberId: string) => revoke(shell, memberId),
  );
  return group;
}

async function issue(shell: Shell, memberId: string): Promise<void> {
  const settings = shell.settings();
  const { environment, sandboxUrl, productionUrl, hasBaseUrl, idTokenIssuer } = settings;
  const baseUrl = environment === 'sandbox' ? sandboxUrl : productionUrl;
  const { idToken } = await withStore('members', settings, async (members) => {
    const { email } = await requireMember(members, memberId);
    await ensureSigningKey(members.signingKeys);
    // If nothing says otherwise here, the address that the running service goes by.
    const issuer = (hasBaseUrl ? undefined : await members.signingKeys.issuer()) ?? baseUrl;
    return issueIdToken(members, { memberId, email }, issuer, new Date());
  });
  if (idTokenIssuer !== undefined)
    shell.note('the gateway will refuse this token: ID_TOKEN_ISSUER names another provider');
  if (shell.json) shell.print({ idToken });
  else shell.write(`${idToken}\n`);
}

async function rotateKey(shell: Shell): Promise<void> {
  const kid = await changeMembers(shell, ({ signingKeys }) =>
    rotateSigningKey(signingKeys, Date.now()),
  );
  shell.print({ kid });
}

async function revokeKey(shell: Shell, revoked: string): Promise<void> {
  const kid = await changeMembers(shell, ({ signingKeys }) =>
    revokeSigningKey(signingKeys, revoked, Date.now()),
  );
  if (kid === undefined) throw noSuch('signing key', revoked);
  shell.print({ revoked, kid });
}

async function revoke(shell: Shell, memberId: string): Promise<void> {
  await changeMembers(shell, async (members) => {
    await requireMember(members, memberId);
    await endingSessions(members.endedSessions, memberId, async () => {});
  });
  shell.print({ memberId, endedAt: new Date() });
}
