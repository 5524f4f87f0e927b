// Asks the Partner Loyalty API with Node's fetch: what the examples beside this file share.

const { PARTNER_LOYALTY_URL, PARTNER_LOYALTY_KEY } = process.env;
const ENDPOINT = PARTNER_LOYALTY_URL ?? 'http://localhost:4000/graphql';
const WAITS = {
  // Nothing has run, so it is safe to send the request again.
  429: 'the budget is spent',
  // It may have run. Here, a repeat does no harm: at worst a second mail, or INVALID_TOKEN.
  503: 'the service is unavailable',
};

/** An error of the API. Branch on `code`: the message can change. */
export class ApiError extends Error {
  constructor({ message, extensions }) {
    super(message);
    this.code = extensions?.code;
    this.argument = extensions?.argument;
    this.reason = extensions?.reason;
    this.requestId = extensions?.requestId;
  }
}

/** Resolves with the data, or rejects with the first error. */
export async function ask(
  query,
  variables,
  credential = { 'x-partner-api-key': PARTNER_LOYALTY_KEY },
) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credential },
      body: JSON.stringify({ query, variables }),
      redirect: 'error', // The key goes nowhere else.
      signal: AbortSignal.timeout(10_000),
    });
    const wait = WAITS[response.status];
    if (wait && attempt < 5) {
      const seconds = Number(response.headers.get('retry-after') ?? 1);
      console.error(`${wait}: waiting ${seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      continue;
    }
    const { data, errors } = await response.json();
    if (errors) throw new ApiError(errors[0]);
    return data;
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

function lineOf(error) {
  const { code, message, requestId, cause } = error;
  if (error instanceof ApiError) return `${code}: ${message} (request ${requestId})`;
  return cause ? `${ENDPOINT} does not answer: ${cause.code ?? cause.message}` : message;
}
