// Runs the requests that users get as files: .http files, and a Postman collection.
// It covers the part of v2.1 and of `pm` that the example uses.
import { deepStrictEqual } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';

type Reply = { status: number; headers: Headers; text: string };

async function send(
  method: string,
  url: string,
  headers: [string, string][],
  body: string,
): Promise<Reply> {
  const response = await fetch(url, { method, headers, body });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/**
 * Sends each request in order, once more after the seconds of Retry-After for each 429, as a user
 * does. Resolves with all replies, as [name, reply]. `ask` gives what a request prompts for.
 */
export async function runHttpFile(
  text: string,
  env: Record<string, string>,
  ask: (variable: string) => Promise<string>,
): Promise<[string, Reply][]> {
  const variables = new Map<string, string>();
  const replies: [string, Reply][] = [];
  /** Replaces `{{name}}`, `{{$processEnv NAME}}` and `{{name.response.body.$.path}}`. */
  const filled = (value: string) =>
    value.replace(/\{\{([^{}]+)\}\}/g, (_, reference: string) => {
      const [, variable] = /^\$processEnv (\w+)$/.exec(reference) ?? [];
      const [, name, path] = /^(\w+)\.response\.body\.\$\.([\w.]+)$/.exec(reference) ?? [];
      const own = variable === undefined ? variables.get(reference) : env[variable];
      const reply = replies.findLast(([each]) => each === name)?.[1].text ?? 'null';
      const found =
        path?.split('.').reduce((value, step) => value?.[step], JSON.parse(reply)) ?? own;
      if (typeof found !== 'string') throw new Error(`nothing has a value for ${reference}`);
      return found;
    });
  const [head = '', ...parts] = text.split(/^###.*\n/m);
  for (const [, name = '', value = ''] of head.matchAll(/^@(\w+) *= *(.*)$/gm))
    variables.set(name, filled(value));
  for (const part of parts) {
    const [top = '', ...body] = part.split(/\n\n/);
    const note = (kind: string) => new RegExp(`^# @${kind} (\\w+)`, 'm').exec(top)?.[1];
    const lines = top.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const [, method = '', url = ''] = /^([A-Z]+) (\S+)$/.exec(lines[0] ?? '') ?? [];
    if (method === '') throw new Error(`no request: ${lines[0]}`);
    const prompt = note('prompt');
    if (prompt !== undefined) variables.set(prompt, await ask(prompt));
    for (let status = 429; status === 429 && replies.length < 100; ) {
      const headers = lines.slice(1).map((line): [string, string] => {
        const [, name = '', value = ''] = /^([\w-]+):(.*)$/.exec(line) ?? [];
        return [name, filled(value.trim())];
      });
      const reply = await send(method, filled(url), headers, filled(body.join('\n\n').trim()));
      replies.push([note('name') ?? '', reply]);
      status = reply.status;
      if (status === 429) await pause(Number(reply.headers.get('retry-after')) * 1_000);
    }
  }
  return replies;
}

type Pair = { key: string; value: string };
type Auth = { type: string; apikey?: Pair[]; bearer?: Pair[] };
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
 * Resolves with what happened, in order: `NAME: STATUS` or `NAME: skipped`, and `NAME: TEST: ` with
 * `passed`, `skipped` or the failure.
 */
export async function runCollection(
  collection: Collection,
  given: Record<string, string>,
): Promise<string[]> {
  const own = collection.variable.map(({ key, value }): [string, string] => [key, value]);
  const variables = new Map([...own, ...Object.entries(given)]);
  const filled = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = variables.get(name);
      if (value === undefined) throw new Error(`the collection has no variable ${name}`);
      return value;
    });
  const outcomes: string[] = [];
  for (let place = 0; place < collection.item.length && outcomes.length < 100; ) {
    const item = collection.item[place];
    if (item === undefined) break;
    const { name, request } = item;
    let isSkipped = false;
    let next = place + 1;
    const waits: Promise<void>[] = [];
    /** Runs the scripts of an event: the collection's, then the request's. */
    const run = (event: string, pm: object) => {
      for (const { listen, script } of [...collection.event, ...item.event])
        if (listen === event)
          runInNewContext(`(() => {${script.exec.join('\n')}\n})()`, { pm, setTimeout: later });
    };
    const later = (act: () => void, ms: number) => void waits.push(pause(ms).then(act));
    const skipRequest = () => {
      isSkipped = true;
    };
    run('prerequest', { variables, execution: { skipRequest } });
    if (isSkipped) outcomes.push(`${name}: skipped`);
    else {
      const { query, variables: inJson } = request.body.graphql;
      const body = JSON.stringify({ query, variables: JSON.parse(filled(inJson)) });
      const headers = [authHeader(request.auth ?? collection.auth), ...request.header];
      const reply = await send(
        request.method,
        filled(request.url),
        headers.map(({ key, value }) => [key, filled(value)]),
        body,
      );
      outcomes.push(`${name}: ${reply.status}`);
      run('test', {
        info: { requestName: name },
        test: Object.assign(
          (title: string, act: () => void) => outcomes.push(`${name}: ${title}: ${outcomeOf(act)}`),
          { skip: (title: string) => outcomes.push(`${name}: ${title}: skipped`) },
        ),
        // The values are of the other context; JSON makes them comparable.
        expect: (actual: unknown) => ({
          to: { eql: (expected: unknown) => deepStrictEqual(plain(actual), plain(expected)) },
        }),
        response: { ...reply, code: reply.status, json: () => JSON.parse(reply.text) },
        collectionVariables: variables,
        execution: {
          setNextRequest(to: string) {
            next = collection.item.findIndex((each) => each.name === to);
          },
        },
      });
    }
    await Promise.all(waits);
    place = next;
  }
  return outcomes;
}

function authHeader({ type, apikey = [], bearer = [] }: Auth): Pair {
  const value = (pairs: Pair[], name: string) => pairs.find(({ key }) => key === name)?.value ?? '';
  if (type === 'bearer') return { key: 'authorization', value: `Bearer ${value(bearer, 'token')}` };
  return { key: value(apikey, 'key'), value: value(apikey, 'value') };
}

function outcomeOf(act: () => void): string {
  try {
    act();
    return 'passed';
  } catch (error) {
    return String(error);
  }
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
