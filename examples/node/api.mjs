// Asks the Partner Loyalty API with Node's fetch: what the examples beside this file share.
import { setTimeout as sleep } from 'node:timers/promises';

const { PARTNER_LOYALTY_URL, PARTNER_LOYALTY_KEY, DEADLINE_SECONDS } = process.env;
const ENDPOINT = PARTNER_LOYALTY_URL ?? 'http://localhost:4000/graphql';
/** The codes of failures that pass, by status. 502 and 504 are from proxies. */
const CODES = {
  429: 'RATE_LIMITED',
  500: 'INTERNAL_SERVER_ERROR',
  502: 'SERVICE_UNAVAILABLE',
  503: 'SERVICE_UNAVAILABLE',
  504: 'SERVICE_UNAVAILABLE',
};
const REASONS = {
  RATE_LIMITED: 'the budget is spent',
  SERVICE_UNAVAILABLE: 'the service is unavailable',
  INTERNAL_SERVER_ERROR: 'something went wrong in the service',
  NO_ANSWER: 'the service does not answer',
};
/** They send a mail, or use up a token, so they are not safe to repeat. */
const UNSAFE = /\b(inviteMember|requestMagicLink|exchangeMagicLink)\b/;

/** An error of the API. Branch on `code`: the message can change. */
export class ApiError extends Error {
  constructor({ message, extensions }, retryAfter = 0) {
    super(message);
    this.code = extensions?.code;
    this.argument = extensions?.argument;
    this.reason = extensions?.reason;
    this.requestId = extensions?.requestId;
    this.retryAfter = extensions?.retryAfter ?? retryAfter;
  }
}

/**
 * Resolves with the data, or rejects with the first error. Sends a request again as the guide to
 * errors and retries says, until the deadline.
 */
export async function ask(
  query,
  variables,
  {
    credential = { 'x-partner-api-key': PARTNER_LOYALTY_KEY },
    deadlineSeconds = DEADLINE_SECONDS ?? 75,
  } = {},
) {
  const end = performance.now() + 1_000 * deadlineSeconds;
  const codes = [];
  for (;;) {
    try {
      return await send({ query, variables }, credential, end - performance.now());
    } catch (error) {
      codes.push(error.code);
      const random = Math.random() * Math.min(60, 2 ** (codes.length - 1));
      const seconds = error.retryAfter + random;
      if (!mayRepeat(query, codes) || performance.now() + 1_000 * seconds > end) throw error;
      console.error(`${REASONS[error.code]}: waiting ${Math.round(seconds)} s`);
      await sleep(1_000 * seconds);
    }
  }
}

/** Whether to send a query again, after failures with these codes. */
function mayRepeat(query, codes) {
  const code = codes.at(-1);
  if (code === 'RATE_LIMITED') return true; // Nothing has run.
  if (UNSAFE.test(query) || !Object.hasOwn(REASONS, code)) return false;
  return code !== 'INTERNAL_SERVER_ERROR' || codes.filter((each) => each === code).length === 1;
}

async function send(body, credential, leftMs) {
  const noAnswer = ({ name, cause }) => {
    const message = `${ENDPOINT} does not answer: ${cause?.code ?? cause?.message ?? name}`;
    throw new ApiError({ message, extensions: { code: 'NO_ANSWER' } });
  };
  const response = await fetch(ENDPOINT, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credential },
    body: JSON.stringify(body),
    redirect: 'manual', // The key goes nowhere else.
    signal: AbortSignal.timeout(Math.round(Math.max(1, Math.min(10_000, leftMs)))),
  }).catch(noAnswer);
  const text = await response.text().catch(noAnswer);
  const other = {
    message: `the status is ${response.status}`,
    extensions: { code: CODES[response.status] },
  };
  const { data, errors = data ? [] : [other] } = parse(text);
  if (errors.length > 0)
    throw new ApiError(errors[0], Number(response.headers.get('retry-after')) || 0);
  return data;
}

/** The JSON of the service; an empty object for a page of something else. */
function parse(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** Runs an example. If it fails, the process ends with 1 and a line that says why. */
export async function run(main) {
  try {
    if (!PARTNER_LOYALTY_KEY)
      throw new Error(
        'set PARTNER_LOYALTY_KEY to a partner key, such as the first that npm start prints',
      );
    await main();
  } catch (error) {
    console.error(lineOf(error));
    process.exitCode = 1;
  }
}

function lineOf({ code, message, requestId }) {
  return requestId ? `${code}: ${message} (request ${requestId})` : message;
}
