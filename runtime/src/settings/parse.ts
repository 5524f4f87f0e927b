// Turns the text of a variable into its value; throws an Error that says what the text has to be.
import ipaddr from 'ipaddr.js';

/** One of the given words. */
export const oneOf =
  <const T extends string>(...words: T[]) =>
  (text: string): T => {
    const word = words.find((each) => each === text);
    if (word === undefined) throw new Error(`has to be one of ${words.join(', ')}`);
    return word;
  };

/** A whole number within limits, both included. */
export const wholeNumber = (least: number, most: number) => (text: string) => {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw new Error(`has to be a whole number from ${least} to ${most}`);
  return value;
};

/** A string that fits a pattern. */
export const fitting = (pattern: RegExp, what: string) => (text: string) => {
  if (!pattern.test(text)) throw new Error(`has to be ${what}`);
  return text;
};

/** An http or https address that others build on: without user, query and fragment, and without a slash at its end. */
export function baseAddress(text: string): string {
  const url = webAddress(text);
  if (url.search !== '' || url.hash !== '')
    throw new Error('has to be an address without a query or a fragment');
  return url.href.replace(/\/+$/, '');
}

/** Where a subgraph runs, as an origin; its path is always /graphql. */
export function subgraphAddress(text: string): string {
  const url = webAddress(text);
  if (!['/', '/graphql'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    throw new Error('has to be an address without a path, such as http://members:4011');
  return url.origin;
}

/** A comma-separated list. */
export const list =
  (item: (text: string) => string) =>
  (text: string): string[] =>
    text
      .split(/[\s,]+/)
      .filter((each) => each !== '')
      .map(item);

/** An address range; a single address is a range of one. */
export function range(text: string): string {
  if (ipaddr.isValidCIDR(text)) return text;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return `${text}/32`;
  if (ipaddr.IPv6.isValid(text)) return `${text}/128`;
  throw new Error('has to be a list of addresses or ranges, such as 10.0.0.0/8, fd00::/8');
}

/** A browser's origin, exactly as browsers send it. */
export function origin(text: string): string {
  if (webAddress(text).origin !== text)
    throw new Error(
      'has to be a list of origins as browsers send them, such as https://shop.example',
    );
  return text;
}

/** An http or https address. */
export function webAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error('has to be an address that starts with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new Error('has to be an address without a user or a password');
  return url;
}
