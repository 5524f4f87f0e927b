// The email templates: what members read, as text and as HTML that loads nothing and tracks nobody.
// Their links are never made from the host that a request names.

import { mailboxOf } from '@partner-loyalty/runtime/email.ts';
import { fill } from '@partner-loyalty/runtime/fill.ts';
import { isolated, withoutAltering } from '@partner-loyalty/runtime/input.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import de from './letters/de.json' with { type: 'json' };
import en from './letters/en.json' with { type: 'json' };

type Letters = typeof en;
const LETTERS: Readonly<Record<string, Letters>> = { en, de };

/** `to` is a mailbox (runtime/src/email.ts). */
export type Email = { to: string; subject: string; text: string; html: string };

/** What a letter says of its own; `until` is when the link ends. */
type Values = {
  link: string;
  partner?: string;
  about?: string;
  code?: string;
  minutes?: number;
  days?: number;
  until?: Date;
};

/**
 * The email in the language, or else in English. It has nothing from the partner except its name,
 * so that nobody can send messages of their own through this service. Its staff also read what a
 * notice is about. It names no other address of the member, because the mailbox may be somebody
 * else's by now.
 */
export function write(
  name: keyof Letters,
  to: string,
  { partner = '', about = '', until, ...values }: Values,
  language = 'en',
): Email {
  const letters = LETTERS[language] ?? en;
  const { subject, button, paragraphs } = letters[name];
  const time = until && timeText(until);
  // An address is there to be copied.
  const what = name === 'staffInvited' ? oneLine(about) : isolated(oneLine(about));
  const named = { partner: isolated(oneLine(partner)), about: what };
  const words = { ...values, ...named, ...(time && { until: time }) };
  const say = (text: string) => fill(text, words);
  const lines = paragraphs.map(say);
  const body = paragraphs.map((one, index) =>
    one === '{link}'
      ? anchor(values.link, button)
      : `<p>${withBdi(escaped(lines[index] ?? ''))}</p>`,
  );
  const title = asSubject(say(subject));
  const html = [
    '<!doctype html>',
    `<html lang="${letters === en ? 'en' : language}">`,
    `<head><meta charset="utf-8"><title>${escaped(title)}</title></head>`,
    `<body style="${BODY_STYLE}">`,
    ...body,
    '</body></html>',
  ];
  return {
    to: mailboxOf(to),
    subject: title,
    text: `${lines.join('\n\n')}\n`,
    html: `${html.join('\n')}\n`,
  };
}

/**
 * A page's address with the token in its query. Keeps the page's own query and fragment, except a
 * `token` parameter of its own.
 */
export function linkTo(page: string, token: string): string {
  const url = new URL(page);
  const kept = url.search.split(/[?&]/).filter((part) => part !== '' && !/^token(=|$)/.test(part));
  url.search = [...kept, `token=${token}`].join('&');
  return url.href;
}

const BODY_STYLE =
  'font-family: sans-serif; line-height: 1.5; max-width: 36em; margin: 1em auto; padding: 0 1em';
const BUTTON_STYLE =
  'display: inline-block; padding: 0.6em 1.2em; background: #1a4d8f; color: #ffffff; ' +
  'text-decoration: none; border-radius: 4px';

function anchor(link: string, label: string): string {
  const href = escaped(link);
  const button = `<a href="${href}" style="${BUTTON_STYLE}">${escaped(label)}</a>`;
  return `<p>${button}</p>\n<p style="word-break: break-all">${href}</p>`;
}

// A line break would start a header, and characters that change the writing direction would
// disguise a name. Persian and Hindi are misspelled without the two joiners.
function oneLine(name: string): string {
  return name.replace(/(?:(?!\u00ad|\u200c|\u200d)[\p{C}\p{Zl}\p{Zp}\s])+/gu, ' ').trim();
}

/** ASCII names need no isolation, and a header without it can be read as it is sent. */
function asSubject(text: string): string {
  const plain = withoutAltering(text);
  return /^[ -~]*$/.test(plain) ? plain : text;
}

/** Escaped text, with `<bdi>` around the isolated names in it. */
function withBdi(text: string): string {
  return text.replace(/\u2068([^\u2068\u2069]*)\u2069/g, '<bdi>$1</bdi>');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
