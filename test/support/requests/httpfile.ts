// Runs an .http file: the part of the grammar of VS Code's REST Client that the example uses.

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
