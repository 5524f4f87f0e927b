// The sign-in page: a link only shows a button, and only pressing it uses the token up, because mail scanners open links too.
import {
  ApiError,
  type ErrorCode,
  fail,
  HEADERS,
  type HttpReply,
  type HttpRequest,
  type Log,
} from '@partner-loyalty/runtime';
import type { Limiter } from '../limits/limiter.ts';
import type { Outcome, Provider } from './provider.ts';
import {
  type Notice,
  noticePage,
  offerPage,
  type Profile,
  profilePage,
  retryPage,
  STYLE_SOURCE,
} from './signin.html.ts';

export const SIGN_IN_PATH = '/sign-in';

const FORM_LIMIT = 16 * 1024;

const PAGE_HEADERS = {
  [HEADERS.contentType.name]: 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src ${STYLE_SOURCE}; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
};

// What each kind of token is for; its prefix tells the kind.
const OFFERS = {
  ml_: {
    title: 'Sign in',
    what: 'Press the button to sign in and see your profile.',
    button: 'Sign in',
  },
  ec_: {
    title: 'Confirm your new email address',
    what: 'Press the button to make this your email address.',
    button: 'Confirm the new address',
  },
  eu_: {
    title: 'Undo the change of your email address',
    what: 'Press the button to get your former email address back.',
    button: 'Undo the change',
  },
} as const;

const DEAD_LINK = noticePage(
  'This link does not work',
  'It has been used, it has expired, or a part of it is missing. Please ask for a new one.',
);
const IN_USE = noticePage(
  'This address cannot be used',
  'The address belongs to another member. Your address stays as it was.',
);
const SLOW_DOWN = noticePage('Too many attempts', 'Please wait a minute and try again.');
const AWAY = noticePage(
  'We cannot do this right now',
  'Something does not answer on our side: please try again in a minute.',
);
const FOREIGN = noticePage(
  'This form was not sent from our page',
  'Please open the link from your mail again.',
);
const ELSEWHERE = noticePage(
  'You cannot sign in here',
  'Members sign in somewhere else: please go to where you usually do. Your link has not been used.',
);
const SIGNED_OUT = noticePage(
  'You are signed out',
  'Your sign-in has ended. Please ask for a new link.',
);

export type SignInParts = {
  provider: Pick<Provider, 'signIn' | 'confirmChange' | 'undoChange'>;
  /** Whether the ID tokens of this service are the ones that the API takes. Where they are not, nobody signs in here; addresses still change. */
  signsIn: boolean;
  /** A partner's name as members read it. */
  partnerName(partnerId: string): Promise<string>;
  /** The handler of /graphql: signed in, the page is a client of the API like any other. */
  graphql: (request: HttpRequest) => Promise<HttpReply>;
  limiter: Pick<Limiter, 'consumeRefusal'>;
  log: Log;
};

/** Answers `/sign-in` with a page, whatever comes. */
export function createSignIn({
  provider,
  signsIn,
  partnerName,
  graphql,
  limiter,
  log,
}: SignInParts): (request: HttpRequest) => Promise<HttpReply> {
  return async (request) => {
    try {
      if (request.method === 'GET' || request.method === 'HEAD') return offer(request);
      if (request.method !== 'POST')
        return {
          ...show(405, noticePage('Not here', 'Please open the link from your mail.')),
          headers: { ...PAGE_HEADERS, [HEADERS.allow.name]: 'GET, HEAD, POST' },
        };
      return await press(request);
    } catch (error) {
      const code: ErrorCode = error instanceof ApiError ? error.code : 'INTERNAL_SERVER_ERROR';
      if (code === 'PAYLOAD_TOO_LARGE' || code === 'BAD_REQUEST') return show(400, DEAD_LINK);
      if (code === 'INTERNAL_SERVER_ERROR')
        log.error({ requestId: request.requestId, err: error }, 'masked an error');
      return show(code === 'SERVICE_UNAVAILABLE' ? 503 : 500, AWAY);
    }
  };

  function offer({ search }: HttpRequest): HttpReply {
    const token = new URLSearchParams(search).get('token') ?? '';
    const what = kindOf(token);
    if (!signsIn && isForSignIn(token)) return show(404, ELSEWHERE);
    return what
      ? show(200, offerPage(what.title, what.what, what.button, token))
      : show(404, DEAD_LINK);
  }

  async function press(request: HttpRequest): Promise<HttpReply> {
    if (!isSameOrigin(request)) return show(403, FOREIGN);
    const form = new URLSearchParams((await request.body(FORM_LIMIT)).toString());
    const token = form.get('token') ?? '';
    const session = form.get('session');
    // Before the token is used up.
    if (!signsIn && (isForSignIn(token) || session !== null)) return show(404, ELSEWHERE);
    const email = form.get('email');
    if (session !== null)
      return email === null ? showOrRetry(request, session) : askForChange(request, session, email);
    const { requestId } = request;
    if (isForSignIn(token)) return signIn(request, await provider.signIn(token, requestId));
    if (token.startsWith('ec_'))
      return changed(
        request,
        await provider.confirmChange(token, requestId),
        'Your email address is changed',
      );
    if (token.startsWith('eu_'))
      return changed(
        request,
        await provider.undoChange(token, requestId),
        'Your former email address is back',
      );
    return refused(request, 'INVALID_TOKEN');
  }

  async function signIn(
    request: HttpRequest,
    outcome: Awaited<ReturnType<Provider['signIn']>>,
  ): Promise<HttpReply> {
    if ('refused' in outcome) return refused(request, outcome.refused);
    return showOrRetry(request, outcome.value.idToken);
  }

  // The link is used up by now: what fails after it must not cost the member the sign-in.
  async function showOrRetry(request: HttpRequest, session: string): Promise<HttpReply> {
    try {
      return await showProfile(request, session);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE')
        return show(503, retryPage(session));
      throw error;
    }
  }

  async function changed(
    request: HttpRequest,
    outcome: Outcome<{ email: string }>,
    title: string,
  ): Promise<HttpReply> {
    if ('refused' in outcome) return refused(request, outcome.refused);
    return show(200, noticePage(title, `From now on we write to ${outcome.value.email}.`));
  }

  async function askForChange(
    request: HttpRequest,
    session: string,
    email: string,
  ): Promise<HttpReply> {
    const query = 'mutation ($email: String!) { requestEmailChange(email: $email) { accepted } }';
    const { errors } = await ask(request, session, query, { email });
    const code = errors?.[0]?.extensions.code;
    if (code === 'UNAUTHENTICATED') return show(401, SIGNED_OUT);
    if (code === 'RATE_LIMITED') return show(429, SLOW_DOWN);
    if (code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR') return fail(code);
    const text =
      code === undefined
        ? `We have sent a link to ${email.trim()}. Open it to make the change.`
        : 'That is not an email address we can use.';
    return showProfile(request, session, { text, problem: code !== undefined });
  }

  async function showProfile(
    request: HttpRequest,
    session: string,
    notice?: Notice,
  ): Promise<HttpReply> {
    const { data, errors } = await ask<{ memberProfile: MemberProfile }>(
      request,
      session,
      PROFILE,
      { id: subjectOf(session) },
    );
    const code = errors?.[0]?.extensions.code;
    if (code === 'UNAUTHENTICATED' || code === 'MEMBER_NOT_FOUND') return show(401, SIGNED_OUT);
    if (code === 'RATE_LIMITED') return show(429, SLOW_DOWN);
    if (code !== undefined || !data)
      return fail(code === 'SERVICE_UNAVAILABLE' ? code : 'INTERNAL_SERVER_ERROR');
    const { partnerStandings, ...profile } = data.memberProfile;
    const named = partnerStandings.map(async ({ partnerId, ...standing }) => ({
      ...standing,
      partner: await partnerName(partnerId),
    }));
    return show(
      200,
      profilePage({ ...profile, partnerStandings: await Promise.all(named) }, session, notice),
    );
  }

  async function ask<T>(
    request: HttpRequest,
    session: string,
    query: string,
    variables: Record<string, unknown>,
  ): Promise<GraphqlReply<T>> {
    const bytes = Buffer.from(JSON.stringify({ query, variables }));
    const headers = {
      [HEADERS.authorization.name]: `Bearer ${session}`,
      [HEADERS.contentType.name]: 'application/json',
    };
    const { method, address, requestId, signal } = request;
    const reply = await graphql({
      method,
      path: '/graphql',
      search: '',
      headers,
      address,
      requestId,
      signal,
      body: async () => bytes,
    });
    return JSON.parse(String(reply.body));
  }

  // Whoever tries out tokens is slowed down like whoever tries out keys.
  async function refused(request: HttpRequest, code: ErrorCode): Promise<HttpReply> {
    if (code === 'EMAIL_IN_USE') return show(409, IN_USE);
    const verdict = await limiter.consumeRefusal(request.address);
    return verdict.allowed ? show(410, DEAD_LINK) : show(429, SLOW_DOWN);
  }
}

type MemberProfile = Omit<Profile, 'partnerStandings'> & {
  partnerStandings: { partnerId: string; tier: string; points: number }[];
};

type GraphqlReply<T> = { data?: T | null; errors?: { extensions: { code: ErrorCode } }[] };

const PROFILE = `query ($id: ID!) { memberProfile(id: $id) {
  email firstName lastName membershipYearStats { akinPoints totalStays } partnerStandings { partnerId tier points }
} }`;

function show(status: number, body: string): HttpReply {
  return { status, headers: { ...PAGE_HEADERS }, body };
}

function isForSignIn(token: string): boolean {
  return token.startsWith('ml_');
}

function kindOf(token: string): (typeof OFFERS)[keyof typeof OFFERS] | undefined {
  return /^(ml|ec|eu)_[A-Za-z0-9_-]{10,200}$/.test(token)
    ? OFFERS[token.slice(0, 3) as keyof typeof OFFERS]
    : undefined;
}

// Under `no-referrer` browsers send `Origin: null` with a form, but they say the same in Sec-Fetch-Site.
function isSameOrigin({ headers }: HttpRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  return (
    origin !== undefined &&
    host !== undefined &&
    (origin === `https://${host}` || origin === `http://${host}`)
  );
}

// The token's own subject; the API verifies the token, so a forged one ends there.
function subjectOf(session: string): string {
  try {
    const { sub } = JSON.parse(Buffer.from(session.split('.')[1] ?? '', 'base64url').toString());
    return typeof sub === 'string' && sub !== '' ? sub : '-';
  } catch {
    return '-';
  }
}
