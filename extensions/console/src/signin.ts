// The page /console/sign-in: the address, then the mailed link or code.
import {
  type ConsoleSession,
  DEMO_PREFIX,
  keepLanguage,
  type Staff,
  staffAddress,
} from '@partner-loyalty/gateway/identity/staff.ts';
import { type Cookies, FORM_COOKIE } from '@partner-loyalty/gateway/pages/forms.ts';
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import {
  messagePage,
  ownerLine,
  type SignInCard,
  signInCard,
  tooManyPage,
} from '@partner-loyalty/runtime/pages/cards.ts';
import { textsOf } from '@partner-loyalty/runtime/pages/language.ts';
import { pageResponse } from '@partner-loyalty/runtime/pages/layout.ts';
import type { ConsoleParts } from './manage.ts';
import type { Sessions } from './sessions.ts';

export const CONSOLE_PATH = '/console';
export const CONSOLE_SIGN_IN_PATH = '/console/sign-in';
/** Where somebody chooses one of several partners. */
export const CHOICE_PATH = '/console/partner';

const SIGN_IN_MS = 15 * 60_000;
const YEAR_MS = 365 * 24 * 3_600_000;
/** What the browser holds that began sign-ins, and one that has signed in before. */
const COOKIE = 'console-sign-in';
const KNOWN_COOKIE = 'known';

type Parts = ConsoleParts & {
  sessions: Sessions;
  cookies: Cookies;
};

/** Notes that a person is signed in to a partner. */
export function auditSignIn({ audit }: ConsoleParts, request: HttpRequest, staff: Staff): void {
  audit?.staff({ requestId: request.requestId, staff, operation: 'console.sign-in' });
}

export function createStaffSignInPage(parts: Parts) {
  const { keyStore, members, sessions, cookies } = parts;
  const { refusals } = parts.limiter;

  function card(request: HttpRequest, shown: SignInCard, status = 200, set: string[] = []) {
    const { console: own, ...texts } = textsOf(request);
    const address = { ...texts.address, title: own.title };
    const code = { ...texts.code, text: own.code };
    const adapted = { ...texts, console: own, address, code };
    const above = ownerLine(undefined, parts.isSandbox);
    const text = signInCard(shown, CONSOLE_SIGN_IN_PATH, adapted, above);
    return pageResponse(status, text, set.length > 0 ? { 'set-cookie': set } : {});
  }

  function held(request: HttpRequest) {
    const known = cookies.read(request, KNOWN_COOKIE);
    return { id: cookies.read(request, COOKIE), ...(known !== '' && { known }) };
  }

  async function begin(request: HttpRequest, email: string): Promise<HttpResponse> {
    const canonical = canonicalEmail(email);
    const tables = await keyStore.staffTables();
    const staff =
      canonical === undefined ? { isStaff: false } : await staffAddress(tables, canonical);
    const { requestId, address: clientAddress } = request;
    const { language } = textsOf(request);
    const answer = await members.staffSignIn(
      { kind: 'begin', email, ...staff, clientAddress, language, ...held(request) },
      requestId,
    );
    if (answer.outcome === 'invalid' || answer.outcome === 'limited')
      return card(request, { name: 'address', problem: answer.outcome, typed: email });
    if (answer.outcome !== 'begun') return card(request, { name: 'address' });
    const cookie = cookies.write(COOKIE, answer.id, SIGN_IN_MS);
    return card(request, { name: 'code', address: answer.address }, 200, [cookie]);
  }

  async function finish(
    request: HttpRequest,
    by: { kind: 'code'; code: string } | { kind: 'link'; token: string },
  ): Promise<HttpResponse> {
    const answer = await members.staffSignIn({ ...by, ...held(request) }, request.requestId);
    if (answer.outcome === 'wrong' || answer.outcome === 'expired')
      return card(request, { name: 'code', address: answer.address, problem: answer.outcome });
    if (answer.outcome !== 'proven') return card(request, { name: 'elsewhere' });
    const { id = '' } = answer;
    const left = cookies.write(COOKIE, id, id === '' ? 0 : SIGN_IN_MS);
    const remembered = cookies.write(KNOWN_COOKIE, answer.known, YEAR_MS);
    return enter(request, { address: answer.address }, [left, remembered], answer.session);
  }

  async function enter(
    request: HttpRequest,
    who: Pick<ConsoleSession, 'address' | 'demoPartnerId'>,
    set: string[] = [],
    held?: string,
  ): Promise<HttpResponse> {
    const former = await sessions.current(request);
    const begun = await sessions.begin(request, who, held);
    // Whoever was removed since the mail was sent.
    if (begun === undefined) return invalidLink(request);
    await keepLanguage(await keyStore.staffTables(), who.address, textsOf(request).language);
    if (begun.staff !== undefined) auditSignIn(parts, request, begun.staff);
    // Nothing that a form of the former session led to shows again.
    const forgotten = former ? [cookies.write(FORM_COOKIE, '')] : [];
    return redirect(CONSOLE_PATH, [...set, ...forgotten, begun.cookie]);
  }

  async function enterDemo(request: HttpRequest, token: string): Promise<HttpResponse> {
    const demoPartnerId = await sessions.redeemDemo(token);
    return demoPartnerId === undefined
      ? invalidLink(request)
      : enter(request, { address: 'demo', demoPartnerId });
  }

  return {
    /** The form for the address; with 401 in place of what needs a session. */
    form: (request: HttpRequest, status = 200) => card(request, { name: 'address' }, status),
    async show(request: HttpRequest, token: string): Promise<HttpResponse> {
      if (token === '') return card(request, { name: 'address' });
      // The browser that began signs in by opening the link, so that nothing else may.
      if (request.method === 'HEAD') return pageResponse(200, '');
      if (refusals.isOver(request.address))
        return tooManyPage(textsOf(request), refusals.secondsLeft(request.address));
      return token.startsWith(DEMO_PREFIX)
        ? enterDemo(request, token)
        : finish(request, { kind: 'link', token });
    },
    async submit(request: HttpRequest, form: URLSearchParams): Promise<HttpResponse> {
      const [email, code] = [form.get('email'), form.get('code')];
      if (code !== null) return finish(request, { kind: 'code', code });
      return email === null ? card(request, { name: 'address' }) : begin(request, email);
    },
  };
}

function invalidLink(request: HttpRequest): HttpResponse {
  return messagePage(410, textsOf(request), 'invalidLink', '', CONSOLE_PATH);
}

export function redirect(location: string, set: string[] = []): HttpResponse {
  const headers = { location, ...(set.length > 0 && { 'set-cookie': set }) };
  return { status: 303, headers, body: '' };
}
