// A browser for tests of signing in: it keeps cookies, and asks the provider as the gateway does.
import { setTimeout } from 'node:timers/promises';
import { textsIn } from '@partner-loyalty/runtime/pages/language.ts';
import type {
  Account,
  IdentityRequest,
  IdentityResponse,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import { BASE, SERVICE, type SignInStage } from '../../../subgraphs/members/test/signin.ts';

type Cookie = { value: string; path: string };
type Fields = Record<string, string>;

/** What a page shows and asks for. */
type Page = {
  name: 'account' | 'address' | 'code' | 'consent' | 'elsewhere' | 'message' | 'signOut';
  action: string;
  address?: string;
  message?: string;
  problem?: string;
  xsrf?: string;
} & Partial<Omit<Account, 'action'>>;

export type Answer = IdentityResponse & { location?: string; page?: Page };

export type Browser = ReturnType<typeof createBrowser>;

/** Hands a request over. */
export async function forward(
  stage: SignInStage,
  request: Partial<IdentityRequest> & { path: string },
): Promise<IdentityResponse> {
  const whole: IdentityRequest = {
    method: 'GET',
    search: '',
    headers: {},
    body: '',
    clientAddress: '192.0.2.1',
    language: 'en',
    ...request,
  };
  // What `store` has written, the subgraph's own store sees in the next turn at the latest.
  await setTimeout(1);
  const operation = { query: '', forwarded: whole, caller: SERVICE, requestId: 'r1' };
  const { data, errors } = await stage.transport.execute(operation);
  if (!data) throw new Error(`the provider answered ${JSON.stringify(errors)}`);
  // Cast: what the provider has made.
  return data as IdentityResponse;
}

export function createBrowser(stage: SignInStage, clientAddress = '192.0.2.1', language = 'en') {
  const cookies = new Map<string, Cookie>();

  function keep(headers: IdentityResponse['headers']): void {
    for (const line of [headers['set-cookie'] ?? []].flat().map(String)) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split('=');
      const path = attributes.find((one) => one.startsWith('path='))?.slice(5) ?? '/';
      const isGone = /expires=Thu, 01 Jan 1970/.test(line);
      if (isGone) cookies.delete(`${name} ${path}`);
      else cookies.set(`${name} ${path}`, { value, path });
    }
  }

  async function send(url: string, form?: Fields, formId?: string): Promise<Answer> {
    const { pathname: path, search } = new URL(url, BASE);
    const cookie = [...cookies]
      .filter(([, one]) => path === one.path || path.startsWith(one.path.replace(/\/?$/, '/')))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ');
    const response = await forward(stage, {
      method: form === undefined ? 'GET' : 'POST',
      path,
      search,
      clientAddress,
      language,
      headers: {
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/144.0',
        accept: 'text/html',
        'sec-fetch-mode': 'navigate',
        ...(cookie !== '' && { cookie }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: form === undefined ? '' : new URLSearchParams(form).toString(),
      formId,
    });
    keep(response.headers);
    const { location } = response.headers;
    const page = pageIn(response, language);
    return {
      ...response,
      ...(page && { page }),
      ...(typeof location === 'string' && { location }),
    };
  }

  /** Follows redirects within the service. */
  async function follow(answer: Answer): Promise<Answer> {
    const { location } = answer;
    return location !== undefined && new URL(location, BASE).origin === BASE
      ? follow(await send(location))
      : answer;
  }

  return {
    cookies,
    send,
    open: async (url: string) => follow(await send(url)),
    /** Sends the form of a page. */
    submit: async ({ page }: Answer, form: Fields) => follow(await send(page?.action ?? '', form)),
  };
}

/** Reads a page as a person does, by its texts. */
function pageIn({ account, body = '' }: IdentityResponse, language: string): Page | undefined {
  if (account !== undefined) return { name: 'account', ...account };
  if (!body.startsWith('<!doctype html>')) return undefined;
  const texts = textsIn(language);
  const text = plain(body);
  const keyOf = (table: object) => {
    const found = Object.entries(table).find(([, value]) => text.includes(plain(String(value))));
    return found?.[0];
  };
  const has = (field: string) => body.includes(`name="${field}"`);
  const action = /<form [^>]*action="([^"]*)"/.exec(body)?.[1] ?? '';
  const defined = (page: Record<string, unknown>) =>
    // Cast: the texts are those of a page with this name.
    Object.fromEntries(Object.entries(page).filter(([, value]) => value !== undefined)) as Page;
  if (has('xsrf'))
    return defined({
      name: 'signOut',
      action,
      xsrf: /name="xsrf" value="([^"]*)"/.exec(body)?.[1],
    });
  if (has('agree')) return { name: 'consent', action };
  if (has('email'))
    return defined({ name: 'address', action, problem: keyOf(texts.address.problems) });
  if (has('code')) {
    const [address] = /\S{1,200}@[\w.]{1,200}\w/.exec(text) ?? [];
    return defined({ name: 'code', action, problem: keyOf(texts.code.problems), address });
  }
  if (text.includes(texts.elsewhere.title)) return { name: 'elsewhere', action };
  const titles = Object.entries(texts.messages).map(([name, [title]]) => [name, title] as const);
  const [message] = titles.find(([, title]) => text.includes(plain(title ?? ''))) ?? [];
  return defined({ name: 'message', action, message });
}

/** The text of HTML. */
function plain(html: string): string {
  return html
    .replace(/<(style|script|title)>.*?<\/\1>/gs, '')
    .replace(/<[^<>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
