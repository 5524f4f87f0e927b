// The routes /sign-in and /account: what members see, and the links that they receive by mail.

import { createFormPage, type Sent } from '@partner-loyalty/gateway/pages/formpage.ts';
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { linkPage, messagePage, ownerLine } from '@partner-loyalty/runtime/pages/cards.ts';
import { textsOf } from '@partner-loyalty/runtime/pages/language.ts';
import { pageResponse } from '@partner-loyalty/runtime/pages/layout.ts';
import type { IdentityResponse, LinkKind } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { Provider } from './provider.ts';
import { isWellFormed, linkKind, type Tokens } from './tokens.ts';

const SIGN_IN_PATH = '/sign-in';

type Parts = Pick<Core, 'settings' | 'forms' | 'log'> & {
  tokens: Tokens;
  /**
   * Undefined if members sign in elsewhere, because the API accepts the tokens of another provider.
   * Links confirm and undo changes of address in any case.
   */
  provider: Provider | undefined;
};

/**
 * Handles both paths; never rejects. Opening a link does not redeem it, because mail scanners open
 * links too.
 */
export function createSignIn({ tokens, provider, ...parts }: Parts) {
  async function show(request: HttpRequest, token: string): Promise<HttpResponse> {
    const texts = textsOf(request);
    const kind = linkKind(token);
    if (provider === undefined && kind === 'signIn')
      return messagePage(404, texts, 'signInElsewhere');
    // The browser that began signs in by opening the link, so that nothing else may.
    if (token !== '' && request.method === 'HEAD') return pageResponse(200, '');
    if (kind === undefined && provider !== undefined) {
      // A page without a token guesses none.
      const refusal = token === '' ? undefined : tokens.refusal(request);
      return refusal ?? respond(provider, request, await provider.ask(request, ''));
    }
    if (kind === undefined || !isWellFormed(token)) return messagePage(404, texts, 'invalidLink');
    const { links, language } = texts;
    const above = ownerLine(undefined, parts.settings.environment === 'sandbox');
    const text = linkPage(links[kind], token, SIGN_IN_PATH, language, above);
    const page = () => pageResponse(200, text);
    return tokens.refusal(request) ?? page();
  }

  async function submit(request: HttpRequest, form: URLSearchParams, sent?: Sent) {
    const token = form.get('token');
    const kind = linkKind(token ?? '');
    if (token !== null && kind !== undefined && kind !== 'signIn')
      return redeem(request, token, kind, sent?.formId);
    if (provider === undefined)
      return kind === 'signIn' || token === null
        ? messagePage(404, textsOf(request), 'signInElsewhere')
        : tokens.refuse(request);
    const ask = () => provider.ask(request, form.toString(), { formId: sent?.formId });
    if (token === null) return respond(provider, request, await ask());
    if (!isWellFormed(token)) return tokens.refuse(request);
    return tokens.guarded(token, request, async () => {
      const answer = await ask();
      return answer.counts === 'refused' ? undefined : provider.respond(request, answer);
    });
  }

  async function respond(to: Provider, request: HttpRequest, answer: IdentityResponse) {
    const response = await to.respond(request, answer);
    return answer.counts === 'refused' ? tokens.refuse(request, response) : response;
  }

  async function redeem(
    request: HttpRequest,
    token: string,
    kind: Exclude<LinkKind, 'signIn'>,
    formId: string | undefined,
  ): Promise<HttpResponse> {
    const texts = textsOf(request);
    if (!isWellFormed(token)) return tokens.refuse(request);
    if (kind === 'contestUndo') {
      const locked = () => messagePage(200, texts, 'addressLocked');
      return tokens.redeem(kind, token, request, locked, formId);
    }
    const name = kind === 'confirmChange' ? 'addressChanged' : 'addressRestored';
    const changed = ({ email }: { email: string }) => messagePage(200, texts, name, email);
    return tokens.redeem(kind, token, request, changed, formId);
  }

  const isOnce = ({ path }: HttpRequest, token: string) =>
    path === SIGN_IN_PATH && token !== '' && linkKind(token) === undefined;

  return createFormPage({ show, isOnce, submit, ...parts });
}
