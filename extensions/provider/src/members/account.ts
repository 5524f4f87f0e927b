// What members do on /account: see and change their profile, and end what others see of it.
import type { MembersCore } from '@partner-loyalty/members/ports.ts';
import { LENGTHS, parseAddress, parseNames } from '@partner-loyalty/members/resolvers/input.ts';
import { profileOf } from '@partner-loyalty/members/resolvers/profile.ts';
import { issueIdToken } from '@partner-loyalty/members/signingkeys/idtoken.ts';
import { SESSION_MS } from '@partner-loyalty/members/tables/access.ts';
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { Account, AccountNotice } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { KoaContextWithOIDC as Context, Session } from 'oidc-provider';
import type { Grants } from './grants.ts';
import { outgoingOf, say, show, textsOf } from './render.ts';
import type { Sessions } from './sessions.ts';

export type AccountParts = Pick<MembersCore, 'store' | 'issuer' | 'enqueueMail'> & {
  grants: Grants;
  sessions: Sessions;
  basePath: string;
};

/** Whose account it is, and in which session. */
export type SignedIn = {
  memberId: string;
  sessionId: string;
  session: Session;
  /** The only partner that the session shows. */
  limitedTo?: string | undefined;
};

export function createAccount({ store, grants, sessions, ...parts }: AccountParts) {
  const { issuer, basePath, enqueueMail } = parts;

  async function accountOf(signedIn: SignedIn): Promise<Omit<Account, 'action'> | undefined> {
    const { memberId, sessionId, limitedTo } = signedIn;
    const isShown = (partnerId: string) => limitedTo === undefined || partnerId === limitedTo;
    const member = await store.member(memberId);
    if (member === undefined) return undefined;
    const { email } = profileOf(member, limitedTo);
    const { apps = [], sessions: open = [] } = (await store.access.find(memberId)) ?? {};
    const claims = { memberId, email, azp: limitedTo };
    const { idToken } = await issueIdToken(store, claims, issuer, new Date());
    const gone: string[] = [];
    const used = await Promise.all(
      apps.map(async ({ clientId, agreedAt }) => {
        const app = await store.apps.find(clientId);
        if (app === undefined) gone.push(clientId);
        if (app === undefined || !isShown(app.partnerId)) return [];
        const partner = await store.partners.get(app.partnerId);
        const partnerName = partner?.name ?? app.partnerId;
        return [{ clientId, agreedAt, appName: app.name, partnerName }];
      }),
    );
    if (gone.length > 0) await grants.revokeApps(memberId, gone);
    return {
      token: idToken,
      apps: used.flat(),
      sessions: open
        .filter(({ usedAt }) => usedAt + SESSION_MS > Date.now())
        .map((one) => ({ ...one, isThis: one.sessionId === sessionId }))
        .filter(({ isThis }) => isThis || limitedTo === undefined),
      isLimited: limitedTo !== undefined,
    };
  }

  async function changeAddress(
    memberId: string,
    email: string,
    language: string,
  ): Promise<AccountNotice> {
    const address = parseAddress('email', email);
    await enqueueMail({ kind: 'change', memberId, address, language });
    return { name: 'linkSent', email: address.typed };
  }

  async function changeNames(memberId: string, form: URLSearchParams): Promise<AccountNotice> {
    const name = (field: string) => form.get(field)?.trim() || null;
    const names = parseNames({ firstName: name('firstName'), lastName: name('lastName') });
    await store.updateOwnNames(memberId, names);
    return { name: 'namesChanged' };
  }

  /** Does what the form asks for. */
  async function act(
    { memberId, limitedTo }: SignedIn,
    form: URLSearchParams,
    language: string,
  ): Promise<AccountNotice | undefined> {
    const [leave, revoke, end] = ['leave', 'revoke', 'end'].map((field) =>
      form.get(field)?.slice(0, LENGTHS.id),
    );
    const email = form.has('new-email') ? form.get('email') : null;
    const of = leave ?? (revoke && (await store.apps.find(revoke))?.partnerId);
    if (limitedTo !== undefined && of !== limitedTo) return undefined;
    if (leave !== undefined) {
      await grants.leave(memberId, leave);
      return { name: 'left' };
    }
    if (revoke !== undefined) {
      await grants.revokeApps(memberId, [revoke]);
      return { name: 'revoked' };
    }
    if (end !== undefined) {
      await grants.endSession(memberId, end);
      return { name: 'sessionEnded' };
    }
    if (email !== null)
      return changeAddress(memberId, email, language).catch(orFault({ name: 'invalidAddress' }));
    if (form.has('firstName') || form.has('lastName'))
      return changeNames(memberId, form).catch(orFault({ name: 'invalidNames' }));
    return undefined;
  }

  async function view(ctx: Context, signedIn: SignedIn, notice?: AccountNotice): Promise<void> {
    const account = await accountOf(signedIn);
    if (account === undefined) return say(ctx, 401, 'signedOut');
    show(ctx, 200, '');
    outgoingOf(ctx).result.account = { action: `${basePath}${ctx.path}`, ...account, notice };
  }

  return {
    view,
    /** Handles a form of the page. */
    async submit(ctx: Context, signedIn: SignedIn, form: URLSearchParams): Promise<void> {
      const { sessionId, session } = signedIn;
      if (form.has('sign-out') || form.get('end') === sessionId) {
        await sessions.signOut(ctx, session);
        return say(ctx, 200, 'signedOut');
      }
      await view(ctx, signedIn, await act(signedIn, form, textsOf(ctx).language));
    },
  };
}

/** Catches what is wrong with a member's input. */
function orFault(notice: AccountNotice): (error: unknown) => AccountNotice {
  return (error) => {
    if (error instanceof ApiError && error.code === 'BAD_USER_INPUT') return notice;
    throw error;
  };
}
