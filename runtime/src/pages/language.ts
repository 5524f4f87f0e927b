// The language of the pages for members: the reader's, if there is one.

import Negotiator from 'negotiator';
import type { HttpRequest } from '../http/request.ts';
import de from './languages/de.json' with { type: 'json' };
import en from './languages/en.json' with { type: 'json' };

export type Texts = typeof en;

const LANGUAGES: readonly Texts[] = [en, de];
const NAMES = LANGUAGES.map(({ language }) => language);

/** A longer header is ignored: reading it would take long. */
const MAX_HEADER = 1_024;

/** The texts in the language that the reader prefers (RFC 9110, section 12.5.4), or in English. */
export function textsOf({ headers }: Pick<HttpRequest, 'headers'>): Texts {
  if ((headers['accept-language'] ?? '').length > MAX_HEADER) return en;
  const [preferred] = new Negotiator({ headers }).languages(NAMES);
  return textsIn(preferred);
}

/** The texts in a language such as `de`, or in English. */
export function textsIn(name: string | undefined): Texts {
  return LANGUAGES.find(({ language }) => language === name) ?? en;
}
