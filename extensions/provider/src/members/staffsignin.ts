// Signing a partner's staff in for the console. The gateway knows who is staff; the mail is here.
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import type { StaffSignIn, StaffSignInAnswer } from '@partner-loyalty/runtime/signin/staff.ts';
import {
  CONSOLE,
  createMailedSignIns,
  type Finished,
  type MailedSignInParts,
} from './mailedsignin.ts';

/** Both texts are JSON, as runtime/src/signin/staff.ts has them. */
export function createStaffSignIn(parts: MailedSignInParts): (request: string) => Promise<string> {
  const mailed = createMailedSignIns(parts);

  async function begin(
    request: Extract<StaffSignIn, { kind: 'begin' }>,
  ): Promise<StaffSignInAnswer> {
    const { isStaff, staffEmail, clientAddress, language, id: before, known } = request;
    const typed = request.email.trim();
    const canonical = canonicalEmail(typed);
    if (canonical === undefined) return { outcome: 'invalid' };
    const staff = { isStaff, email: staffEmail, language };
    const beginning = { clientAddress, held: before, known, purpose: CONSOLE, staff };
    const id = await mailed.begin({ typed, canonical }, beginning);
    return id === undefined ? { outcome: 'limited' } : { outcome: 'begun', id, address: typed };
  }

  async function proven(finished: Finished): Promise<StaffSignInAnswer> {
    parts.metrics.signIn('success');
    await mailed.remember(finished);
    const { signIn, held, known, session } = finished;
    const { canonical: address } = signIn.address;
    return { outcome: 'proven', id: held || undefined, address, known, session };
  }

  async function answer(request: StaffSignIn): Promise<StaffSignInAnswer> {
    if (request.kind === 'begin') return begin(request);
    const browser = { held: request.id, known: request.known };
    if (request.kind === 'link') {
      const proof = await mailed.byLink(browser, request.token, CONSOLE);
      return proof === undefined ? { outcome: 'elsewhere' } : proven(proof);
    }
    const proof = await mailed.byCode(browser, request.code, CONSOLE);
    if (!('problem' in proof)) return proven(proof);
    return { outcome: proof.problem, address: proof.address };
  }

  // Only the gateway asks, in a signed request.
  return async (text) => JSON.stringify(await answer(JSON.parse(text)));
}
