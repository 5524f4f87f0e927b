// The console of partners' staff at /console: finds the page, checks the role, renders the frame.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Audit } from '../audit/audit.ts';
import type { Partner } from '../identity/keystore.ts';
import type { Staff } from '../identity/staff.ts';
import { type Html, html } from '../pages/html.ts';
import { createFormPage } from '../sign-in/form.ts';
import type { MembersClient } from '../sign-in/membersclient.ts';
import type { Tokens } from '../sign-in/tokens.ts';
import { createCookies } from './cookies.ts';
import { type ConsolePage, consolePage } from './frame.ts';
import { choicePage, overviewPage, SUSPENDED } from './overview.ts';
import { ConsoleError, type ConsoleVisit, NotFoundError, type Section } from './section.ts';
import { createSections, type SectionParts } from './sections.ts';
import { createSessions, type SignedIn } from './sessions.ts';
import { CONSOLE_PATH, CONSOLE_SIGN_IN_PATH, createStaffSignInPage, redirect } from './signin.ts';

export type ConsoleParts = SectionParts & {
  settings: Pick<Settings, 'environment' | 'rateLimitBudget' | 'rateLimitWindowSeconds'>;
  /** The base address of the service. */
  ownUrl: string;
  members: Pick<MembersClient, 'staffSignIn'>;
  tokens: Pick<Tokens, 'refusal'>;
  audit: Pick<Audit, 'staff'> | undefined;
  log: Log;
};

const SIGN_OUT_PATH = `${CONSOLE_PATH}/sign-out`;
const CHOICE_PATH = `${CONSOLE_PATH}/partner`;
/** Says after a redirect that a form has done its work. */
const DONE = 'done';

/** Somebody on a page about a partner that is not suspended. */
type Visitor = { signedIn: SignedIn; staff: Staff; partner: Partner };

/** Handles `/console` and all below it; never rejects. */
export function createConsole(
  parts: ConsoleParts,
): (request: HttpRequest) => Promise<HttpResponse> {
  const { keyStore, settings, audit, log, ownUrl } = parts;
  const { environment } = settings;
  const cookies = createCookies(ownUrl);
  const sessions = createSessions(keyStore, cookies);
  const signIn = createStaffSignInPage({ ...parts, sessions, cookies, signedIn: auditSignIn });
  const sections = createSections(parts);

  function auditSignIn({ requestId }: HttpRequest, staff: Staff): void {
    audit?.staff({ requestId, staff, operation: 'console.sign-in' });
  }

  const sectionOf = ({ path }: HttpRequest) =>
    sections.find(({ name }) => path === `${CONSOLE_PATH}/${name}`);

  const page = (request: HttpRequest, { signedIn, partner }: Visitor, shown: ConsolePage) => {
    const about = { partnerName: partner.name, path: request.path };
    return consolePage({ environment, sections }, signedIn, about, shown);
  };

  /** A page without a partner. */
  const bare = (request: HttpRequest, signedIn: SignedIn, shown: ConsolePage) => {
    const about = { partnerName: undefined, path: request.path };
    return consolePage({ environment, sections }, signedIn, about, shown);
  };

  /** Whoever may see pages of sections, or the page to show instead. */
  async function visitorOf(
    request: HttpRequest,
    signedIn: SignedIn,
  ): Promise<Visitor | HttpResponse> {
    const { staff } = signedIn;
    if (staff === undefined)
      return bare(request, signedIn, await choicePage(keyStore, signedIn.places, CHOICE_PATH));
    const partner = await keyStore.partner(staff.partnerId);
    if (partner === undefined || partner.suspendedAt !== undefined)
      return bare(request, signedIn, { ...SUSPENDED, status: 403 });
    return { signedIn, staff, partner };
  }

  async function showSection(
    request: HttpRequest,
    visitor: Visitor,
    section: Section,
    problem?: ConsoleError,
  ): Promise<HttpResponse> {
    const visit = visitOf(request, visitor.staff);
    let said = problem;
    const content = await section.show(visit).catch((error: unknown) => {
      if (!(error instanceof ConsoleError)) throw error;
      said ??= error;
      return html``;
    });
    const done = visit.query.has(DONE) ? { text: 'Done.', isProblem: false } : undefined;
    const notice = said ? { text: said.message, isProblem: true } : done;
    const status = said === undefined ? 200 : said instanceof NotFoundError ? 404 : 400;
    return page(request, visitor, { title: section.title, content, status, notice });
  }

  async function submitSection(
    request: HttpRequest,
    visitor: Visitor,
    section: Section,
    form: URLSearchParams,
  ): Promise<HttpResponse> {
    const { staff } = visitor;
    if (staff.role !== 'admin') return page(request, visitor, { ...ADMINS_ONLY, status: 403 });
    let target = [...form].find(([name]) => name.endsWith('Id'))?.[1].slice(0, 128);
    const visit: ConsoleVisit = {
      ...visitOf(request, staff),
      changed(id) {
        target = id;
      },
    };
    const [action = 'submit'] = /^[a-z-]{1,32}$/.exec(form.get('action') ?? '') ?? [];
    const record = (failed?: true) => {
      const operation = `console.${section.name}.${action}`;
      audit?.staff({ requestId: request.requestId, staff, operation, target, failed });
    };
    let shown: Html | undefined;
    try {
      shown = await section.submit?.(visit, form);
    } catch (error) {
      if (error instanceof ConsoleError) return showSection(request, visitor, section, error);
      record(true);
      throw error;
    }
    record();
    if (shown === undefined) return redirect(`${request.path}?${DONE}=yes`);
    return page(request, visitor, { title: section.title, content: shown });
  }

  async function choose(
    request: HttpRequest,
    signedIn: SignedIn,
    form: URLSearchParams,
  ): Promise<HttpResponse> {
    const staff = signedIn.places.find(({ staffId }) => staffId === form.get('staffId'));
    if (staff === undefined) return redirect(CHOICE_PATH);
    await sessions.choose(signedIn, staff);
    auditSignIn(request, staff);
    return redirect(CONSOLE_PATH);
  }

  async function show(request: HttpRequest, token: string): Promise<HttpResponse> {
    const { path } = request;
    if (path === CONSOLE_SIGN_IN_PATH) return signIn.show(request, token);
    const signedIn = await sessions.current(request);
    if (signedIn === undefined)
      return path === CONSOLE_PATH ? signIn.form(request) : redirect(CONSOLE_PATH);
    if (path === CHOICE_PATH)
      return bare(request, signedIn, await choicePage(keyStore, signedIn.places, CHOICE_PATH));
    const visitor = await visitorOf(request, signedIn);
    if ('status' in visitor) return visitor;
    if (path === CONSOLE_PATH)
      return page(
        request,
        visitor,
        overviewPage(visitor.partner, sections, { ...settings, ownUrl }),
      );
    const section = sectionOf(request);
    return section === undefined
      ? page(request, visitor, { ...NO_PAGE, status: 404 })
      : showSection(request, visitor, section);
  }

  async function submit(request: HttpRequest, form: URLSearchParams): Promise<HttpResponse> {
    const { path } = request;
    if (path === CONSOLE_SIGN_IN_PATH) return signIn.submit(request, form);
    const signedIn = await sessions.current(request);
    if (path === SIGN_OUT_PATH)
      return redirect(CONSOLE_PATH, signedIn ? [await sessions.end(signedIn)] : []);
    if (signedIn === undefined) return signIn.form(request, 401);
    if (path === CHOICE_PATH) return choose(request, signedIn, form);
    const visitor = await visitorOf(request, signedIn);
    if ('status' in visitor) return visitor;
    const section = sectionOf(request);
    return section?.submit === undefined
      ? page(request, visitor, { ...NO_PAGE, status: 404 })
      : submitSection(request, visitor, section, form);
  }

  return createFormPage({ show, submit, log });
}

const NO_PAGE = { title: 'There is no such page', content: html`` };
const ADMINS_ONLY = {
  title: 'Only admins can make changes',
  content: html`<p>You may look at everything here. Ask an admin of your company.</p>`,
};

function visitOf({ search, requestId }: HttpRequest, staff: Staff): ConsoleVisit {
  return { staff, query: new URLSearchParams(search), requestId, changed() {} };
}
