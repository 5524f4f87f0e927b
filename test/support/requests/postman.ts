// Runs the requests that users get as files: .http files, and a Postman collection.
// It covers the part of v2.1 and of `pm` that the example uses.
import { deepStrictEqual } from 'node:assert/strict';
import { runInNewContext } from 'node:vm';

export type HttpResponse = { status: number; text: string };

type HttpRequest = {
  name: string;
  /** The variable that the user is asked for. */
  prompt: string | undefined;
  method: string;
  url: string;
  headers: [string, string][];
  body: string;
};

/**
 * Sends each request in order, once more after the seconds of Retry-After for each 429, as a user
 * does. Resolves with all replies, as [name, reply]. `ask` gives what a request prompts for.
 */
export async function runHttpFile(
  text: string,
  env: Record<string, string>,
  ask: (variable: string) => Promise<string>,
): Promise<[string, HttpResponse][]> {
  const variables = new Map<string, string>();
  const replies: [string, HttpResponse][] = [];
  const fill = (value: string) => filled(value, variables, env, replies);
  const [head = '', ...parts] = text.split(/^###.*\n/m);
  for (const [, name = '', value = ''] of head.matchAll(/^@(\w+) *= *(.*)$/gm))
    variables.set(name, fill(value));
  for (const request of parts.map(parseRequest)) {
    if (request.prompt !== undefined) variables.set(request.prompt, await ask(request.prompt));
    for (let status = 429; status === 429 && replies.length < 100; ) {
      const response = await fetch(fill(request.url), {
        method: request.method,
        headers: request.headers.map(([name, value]): [string, string] => [name, fill(value)]),
        body: fill(request.body),
      });
      status = response.status;
      replies.push([request.name, { status, text: await response.text() }]);
      const seconds = status === 429 ? Number(response.headers.get('retry-after')) : 0;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    }
  }
  return replies;
}

function parseRequest(part: string): HttpRequest {
  const [head = '', ...body] = part.split(/\n\n/);
  const lines = head.split('\n').filter((line) => line !== '');
  const note = (kind: string) =>
    lines.find((line) => line.startsWith(`# @${kind} `))?.split(' ')[2] ?? undefined;
  const [requestLine = '', ...headers] = lines.filter((line) => !line.startsWith('#'));
  const [method = '', url = '', ...rest] = requestLine.split(' ');
  if (!/^[A-Z]+$/.test(method) || rest.length > 0) throw new Error(`no request: ${requestLine}`);
  return {
    name: note('name') ?? '',
    prompt: note('prompt'),
    method,
    url,
    headers: headers.map((line): [string, string] => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`no header: ${line}`);
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
    body: body.join('\n\n').trim(),
  };
}

/** Replaces `{{name}}`, `{{$processEnv NAME}}` and `{{name.response.body.$.path}}`. */
function filled(
  text: string,
  variables: Map<string, string>,
  env: Record<string, string>,
  replies: [string, HttpResponse][],
): string {
  return text.replace(/\{\{([^{}]+)\}\}/g, (_, reference: string) => {
    const [, variable] = /^\$processEnv (\w+)$/.exec(reference) ?? [];
    const [, name, path] = /^(\w+)\.response\.body\.\$\.([\w.]+)$/.exec(reference) ?? [];
    const value =
      variable !== undefined
        ? env[variable]
        : path !== undefined
          ? valueAt(replies.findLast(([each]) => each === name)?.[1].text ?? 'null', path)
          : variables.get(reference);
    if (typeof value !== 'string') throw new Error(`nothing has a value for ${reference}`);
    return value;
  });
}

function valueAt(json: string, path: string): unknown {
  // Cast: what a path leads through is an object, or the optional chaining ends it.
  return path
    .split('.')
    .reduce((value, step) => (value as Record<string, unknown> | null)?.[step], JSON.parse(json));
}

type Auth = { type: string; apikey?: Pair[]; bearer?: Pair[] };
type Pair = { key: string; value: string };
type Event = { listen: string; script: { exec: string[] } };
type Item = {
  name: string;
  event: Event[];
  request: {
    method: string;
    url: string;
    header: Pair[];
    auth?: Auth;
    body: { mode: string; graphql: { query: string; variables: string } };
  };
};
export type Collection = { auth: Auth; event: Event[]; variable: Pair[]; item: Item[] };

/**
 * What happened, in order: `NAME: STATUS` or `NAME: skipped`, and `NAME: TEST: ` with `passed`,
 * `skipped` or the failure.
 */
export type Outcome = string;

export async function runCollection(
  collection: Collection,
  given: Record<string, string>,
): Promise<Outcome[]> {
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  for (const [key, value] of Object.entries(given)) variables.set(key, value);
  const outcomes: Outcome[] = [];
  for (let place = 0; place < collection.item.length && outcomes.length < 100; ) {
    const item = collection.item[place];
    if (item === undefined) break;
    if (isSkipped(collection, item, variables)) {
      outcomes.push(`${item.name}: skipped`);
      place += 1;
      continue;
    }
    const response = await send(item, collection.auth, (text) => fill(text, variables));
    outcomes.push(`${item.name}: ${response.status}`);
    const next = await runScripts(collection, item, response, variables, outcomes);
    place = next === undefined ? place + 1 : collection.item.findIndex(({ name }) => name === next);
  }
  return outcomes;
}

type Reply = { status: number; headers: Headers; text: string };

async function send(
  { request }: Item,
  inherited: Auth,
  filled: (text: string) => string,
): Promise<Reply> {
  if (request.body.mode !== 'graphql') throw new Error(`no body of mode ${request.body.mode}`);
  const { query, variables } = request.body.graphql;
  const [name, value] = authHeader(request.auth ?? inherited);
  const headers: [string, string][] = [[name, filled(value)]];
  for (const header of request.header) headers.push([header.key, filled(header.value)]);
  const response = await fetch(filled(request.url), {
    method: request.method,
    headers,
    body: JSON.stringify({ query, variables: JSON.parse(filled(variables)) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function authHeader({ type, apikey = [], bearer = [] }: Auth): [string, string] {
  const value = (pairs: Pair[], name: string) => pairs.find(({ key }) => key === name)?.value ?? '';
  if (type === 'bearer') return ['authorization', `Bearer ${value(bearer, 'token')}`];
  if (type !== 'apikey' || value(apikey, 'in') !== 'header') throw new Error(`no auth ${type}`);
  return [value(apikey, 'key'), value(apikey, 'value')];
}

/** The scripts of an event: the collection's, then the request's. */
function scriptsOf(collection: Collection, item: Item, event: string): string[] {
  const events = [...collection.event, ...item.event];
  const other = events.find(({ listen }) => listen !== 'prerequest' && listen !== 'test');
  if (other !== undefined) throw new Error(`no scripts that listen to ${other.listen}`);
  return events
    .filter(({ listen }) => listen === event)
    .map(({ script }) => script.exec.join('\n'));
}

/** Whether a script before the request says so. */
function isSkipped(collection: Collection, item: Item, variables: Map<string, string>): boolean {
  let skipped = false;
  const skipRequest = () => {
    skipped = true;
  };
  const pm = { variables, execution: { skipRequest } };
  for (const script of scriptsOf(collection, item, 'prerequest'))
    runInNewContext(`(() => {${script}\n})()`, { pm });
  return skipped;
}

/** The scripts after a response: the collection's, then the request's. */
async function runScripts(
  collection: Collection,
  item: Item,
  { status, headers, text }: Reply,
  variables: Map<string, string>,
  outcomes: Outcome[],
): Promise<string | undefined> {
  let next: string | undefined;
  const waits: Promise<void>[] = [];
  const test = (name: string, run: () => void) => {
    let outcome = 'passed';
    try {
      run();
    } catch (error) {
      outcome = String(error);
    }
    outcomes.push(`${item.name}: ${name}: ${outcome}`);
  };
  test.skip = (name: string) => void outcomes.push(`${item.name}: ${name}: skipped`);
  const pm = {
    info: { requestName: item.name },
    test,
    // The values are of the other context; JSON makes them comparable.
    expect: (actual: unknown) => ({
      to: { eql: (expected: unknown) => deepStrictEqual(plain(actual), plain(expected)) },
    }),
    response: { code: status, headers, json: () => JSON.parse(text) },
    collectionVariables: variables,
    execution: {
      setNextRequest(name: string) {
        next = name;
      },
    },
  };
  const later = (run: () => void, ms: number) =>
    void waits.push(
      new Promise((resolve) =>
        setTimeout(() => {
          run();
          resolve();
        }, ms),
      ),
    );
  for (const script of scriptsOf(collection, item, 'test'))
    runInNewContext(`(() => {${script}\n})()`, { pm, setTimeout: later });
  await Promise.all(waits);
  return next;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function fill(text: string, variables: Map<string, string>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`the collection has no variable ${name}`);
    return value;
  });
}
