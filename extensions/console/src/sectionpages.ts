// The page of a section: what it shows, and what becomes of its forms.
import type { Audit } from '@partner-loyalty/gateway/audit.ts';
import type { Partner } from '@partner-loyalty/gateway/identity/keystore.ts';
import { NotAdminError, type Staff } from '@partner-loyalty/gateway/identity/staff.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { type ConsolePage, FORM_FOR } from './frame.ts';
import {
  actionOf,
  ConsoleError,
  type ConsoleVisit,
  NotFoundError,
  type Notice,
  type Section,
} from './section.ts';
import type { SignedIn } from './sessions.ts';
import { redirect } from './signin.ts';

/** Somebody on a page about a partner that is not suspended. */
export type Visitor = { signedIn: SignedIn; staff: Staff; partner: Partner };

type Parts = {
  audit: Pick<Audit, 'staff'> | undefined;
  /** Puts a page into the frame. */
  page(request: HttpRequest, visitor: Visitor, shown: ConsolePage): HttpResponse;
};

/** Says after a redirect that a form has done its work, or that nobody knows. */
const DONE = 'done';
export const INTERRUPTED = 'interrupted';
const CHECK = 'We were interrupted. Check whether your change was made before you make it again.';

export function createSectionPages({ audit, page }: Parts) {
  async function show(
    request: HttpRequest,
    visitor: Visitor,
    section: Section,
    rejected?: { rejected: URLSearchParams; problem: ConsoleError },
    said?: Notice,
  ): Promise<HttpResponse> {
    const visit = { ...visitOf(request, visitor.staff), ...rejected };
    const { title } = section;
    let problem = rejected?.problem;
    const content = await section.show(visit).catch((error: unknown) => {
      if (!(error instanceof ConsoleError)) throw error;
      problem ??= error;
      return html``;
    });
    if (problem !== undefined) {
      const { field, message } = problem;
      const notice = field === undefined ? { text: message, isProblem: true } : undefined;
      const status = problem instanceof NotFoundError ? 404 : 400;
      return page(request, visitor, { title, content, status, notice });
    }
    const isProblem = visit.query.has(INTERRUPTED);
    const text = isProblem ? CHECK : doneText(section, visit.query);
    const notice = said ?? (text === undefined ? undefined : { text, isProblem });
    return page(request, visitor, { title, content, notice });
  }

  async function submit(
    request: HttpRequest,
    visitor: Visitor,
    section: Section,
    form: URLSearchParams,
  ): Promise<HttpResponse> {
    const { staff, signedIn } = visitor;
    if ((form.get(FORM_FOR) ?? staff.staffId) !== staff.staffId)
      return page(request, visitor, SWITCHED);
    if (staff.role !== 'admin') return page(request, visitor, ADMINS_ONLY);
    let target: string | undefined;
    const changed = (id: string) => {
      target = id.slice(0, 128);
    };
    const name = form.get('action') ?? '';
    const record = (failed?: true) => {
      const operation = `console.${section.name}.${name}`;
      audit?.staff({ requestId: request.requestId, staff, operation, target, failed });
    };
    let shown: Html | Notice | undefined;
    try {
      shown = await actionOf(section, name)({ ...visitOf(request, staff), changed }, form);
    } catch (error) {
      if (error instanceof NotAdminError) return page(request, visitor, ADMINS_ONLY);
      if (error instanceof ConsoleError)
        return show(request, visitor, section, { rejected: form, problem: error });
      record(true);
      throw error;
    }
    record();
    if (shown === undefined) return redirect(`${request.path}?${DONE}=${name}`, signedIn.cookies);
    return 'html' in shown
      ? page(request, visitor, { title: section.title, content: shown })
      : show(request, visitor, section, undefined, shown);
  }

  return { show, submit };
}

function doneText({ done = {} }: Section, query: URLSearchParams): string | undefined {
  const action = query.get(DONE);
  if (action === null) return undefined;
  return Object.hasOwn(done, action) ? done[action] : 'Done.';
}

const SWITCHED: ConsolePage = {
  title: 'Another partner is chosen now',
  content: html`<p>The form was for the partner that was chosen before. Nothing was changed.</p>`,
  status: 409,
};

const ADMINS_ONLY: ConsolePage = {
  title: 'Only admins can make changes',
  content: html`<p>You can view everything here. To make a change, ask an admin of your company.</p>`,
  status: 403,
};

function visitOf({ search, requestId }: HttpRequest, staff: Staff): ConsoleVisit {
  return { staff, query: new URLSearchParams(search), requestId, changed() {} };
}
