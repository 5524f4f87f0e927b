// The console of partners' staff at /console: finds the page, and who is signed in to see it.
import { createFormPage, type Sent } from '@partner-loyalty/gateway/pages/formpage.ts';
import { createCookies, FORM_COOKIE } from '@partner-loyalty/gateway/pages/forms.ts';
import { tooMany } from '@partner-loyalty/gateway/pages/visit.ts';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { consolePage } from './frame.ts';
import type { ConsoleParts } from './manage.ts';
import { choicePage, NO_PAGE, overviewPage, suspendedPage } from './overview.ts';
import { createSectionPages, INTERRUPTED } from './sectionpages.ts';
import { createSections } from './sections.ts';
import { createSessions, type SignedIn } from './sessions.ts';
import {
  auditSignIn,
  CHOICE_PATH,
  CONSOLE_PATH,
  CONSOLE_SIGN_IN_PATH,
  createStaffSignInPage,
  redirect,
} from './signin.ts';

/** Pages that are made at the same time: a search of requests takes long. */
const PAGES = { places: 4, ofOwner: 1, waitMs: 10_000 };

/** Handles `/console` and all below it; never rejects. */
export function createConsole(parts: ConsoleParts) {
  const { keyStore, limiter, settings, audit, forms, log, ownUrl } = parts;
  const cookies = createCookies(ownUrl);
  const sessions = createSessions(keyStore, cookies);
  const signIn = createStaffSignInPage({ ...parts, sessions, cookies });
  const sections = createSections(parts);
  const page = consolePage.bind(undefined, { settings, sections });
  const sectionPages = createSectionPages({ audit, page });
  const [place, pagePlace] = [createPlaces({ ofOwner: 1 }), createPlaces(PAGES)];
  // Then nothing that a form led to is shown again.
  const forgotten = cookies.write(FORM_COOKIE, '');

  const choice = async (request: HttpRequest, signedIn: SignedIn) =>
    page(request, { signedIn }, await choicePage(keyStore, signedIn.places));

  /** Whoever may see pages about a partner, or the page to show instead. */
  async function visitorOf(request: HttpRequest, signedIn: SignedIn) {
    const { staff, places } = signedIn;
    if (staff === undefined) return choice(request, signedIn);
    const { allowed, resetSeconds } = await limiter.consumeStaff(staff.partnerId, staff.role);
    if (!allowed) return tooMany(request, `${resetSeconds}`);
    const partner = await keyStore.partner(staff.partnerId);
    if (partner === undefined || partner.suspendedAt !== undefined)
      return page(request, { signedIn }, suspendedPage(places.length > 1));
    return { signedIn, staff, partner };
  }

  async function choose(request: HttpRequest, signedIn: SignedIn, form: URLSearchParams) {
    const staff = signedIn.places.find(({ staffId }) => staffId === form.get('staffId'));
    if (staff === undefined) return redirect(CHOICE_PATH);
    await sessions.choose(signedIn, staff);
    auditSignIn(parts, request, staff);
    return redirect(CONSOLE_PATH, signedIn.cookies);
  }

  const sectionOf = ({ path }: HttpRequest) =>
    sections.find(({ name }) => path === `${CONSOLE_PATH}/${name}`);

  async function show(request: HttpRequest, token: string): Promise<HttpResponse> {
    const { path } = request;
    if (path === CONSOLE_SIGN_IN_PATH) return signIn.show(request, token);
    const signedIn = await sessions.current(request);
    if (signedIn === undefined)
      return path === CONSOLE_PATH ? signIn.form(request) : redirect(CONSOLE_PATH);
    if (path === CHOICE_PATH) return choice(request, signedIn);
    const visitor = await visitorOf(request, signedIn);
    if ('status' in visitor) return visitor;
    const section = sectionOf(request);
    if (section !== undefined) {
      const { partnerId: owner, staffId: part } = visitor.staff;
      const leave = await pagePlace({ owner, part, signal: request.signal });
      try {
        await request.turn();
        return await sectionPages.show(request, visitor, section);
      } finally {
        leave();
      }
    }
    const overview = overviewPage(visitor.partner, sections, settings, ownUrl);
    return page(request, visitor, path === CONSOLE_PATH ? overview : NO_PAGE);
  }

  async function submit(request: HttpRequest, form: URLSearchParams, sent?: Sent) {
    const { path } = request;
    if (path === CONSOLE_SIGN_IN_PATH) return signIn.submit(request, form);
    // Whatever a form creates, it creates once.
    if (sent?.isAgain && sectionOf(request)) return redirect(`${path}?${INTERRUPTED}=yes`);
    const before = await sessions.current(request);
    const leave =
      before?.staff && (await place({ owner: before.staff.partnerId, part: before.staff.staffId }));
    return change(request, form, before?.cookies).finally(leave);
  }

  /** One at a time for each partner, so that none exceeds a limit that it read before another. */
  async function change(request: HttpRequest, form: URLSearchParams, cookies: string[] = []) {
    const { path } = request;
    // Whoever was removed meanwhile may not do it any more.
    const current = await sessions.current(request);
    const signedIn = current && { ...current, cookies: [...cookies, ...current.cookies] };
    if (path === `${CONSOLE_PATH}/sign-out`)
      return redirect(CONSOLE_PATH, signedIn ? [await sessions.end(signedIn), forgotten] : []);
    if (signedIn === undefined) return signIn.form(request, 401);
    if (path === CHOICE_PATH) return choose(request, signedIn, form);
    const visitor = await visitorOf(request, signedIn);
    if ('status' in visitor) return visitor;
    const section = sectionOf(request);
    return section === undefined
      ? page(request, visitor, NO_PAGE)
      : sectionPages.submit(request, visitor, section, form);
  }

  const isOnce = ({ path }: HttpRequest, token: string) =>
    path === CONSOLE_SIGN_IN_PATH && token !== '';

  return createFormPage({ show, isOnce, submit, forms, log });
}
