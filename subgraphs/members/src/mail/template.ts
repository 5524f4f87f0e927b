// The email templates: what members read, as text and as HTML that loads nothing and tracks nobody.
// Their links are never made from the host that a request names.

import { DE } from './letters/de.ts';
import { EN, type Letter } from './letters/en.ts';

/** `to` is a canonical address from the store. */
export type Email = { to: string; subject: string; text: string; html: string };

const LETTERS: Readonly<Record<string, typeof EN>> = { en: EN, de: DE };

/** The emails in a language, or else in English. */
export function lettersIn(language = 'en') {
  const letters = LETTERS[language] ?? EN;
  const write = (to: string, letter: Letter) => email(to, letter, letters === EN ? 'en' : language);
  return {
    /** Sent when a partner requests a magic link. */
    magicLink: (to: string, partnerName: string, link: string, minutes: number) =>
      write(to, letters.magicLink(oneLine(partnerName), link, minutes)),
    /** Sent when somebody begins to sign in on this service's own page. */
    code: (to: string, code: string, link: string, minutes: number) =>
      write(to, letters.code(`${code.slice(0, 4)}-${code.slice(4)}`, link, minutes)),
    /**
     * Sent when a partner invites somebody. Contains nothing from the partner except its name, so
     * that nobody can send messages of their own through this service.
     */
    invitation: (to: string, partnerName: string, link: string, days: number) =>
      write(to, letters.invitation(oneLine(partnerName), link, days)),
    /** Sent to the new address; whoever opens the link proves that they have access to it. */
    change: (to: string, link: string, minutes: number) => write(to, letters.change(link, minutes)),
    /**
     * Sent to the former address. Does not name the new one: the former mailbox may belong to
     * somebody else by now.
     */
    changed: (to: string, link: string, until: Date) => write(to, letters.changed(link, until)),
    /**
     * Sent to an address that undoing took away. Does not name the one that is current instead:
     * either mailbox may be somebody else's.
     */
    undone: (to: string, link: string, until: Date) => write(to, letters.undone(link, until)),
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

function email(to: string, { subject, paragraphs }: Letter, language: string): Email {
  const text = paragraphs.map((one) => (typeof one === 'string' ? one : one.link)).join('\n\n');
  const body = paragraphs.map((one) =>
    typeof one === 'string' ? `<p>${escaped(one)}</p>` : anchor(one.link, one.label),
  );
  const html = [
    '<!doctype html>',
    `<html lang="${language}"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head>`,
    `<body style="${BODY_STYLE}">`,
    ...body,
    '</body></html>',
  ];
  return { to, subject, text: `${text}\n`, html: `${html.join('\n')}\n` };
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
// disguise a name.
function oneLine(name: string): string {
  return name.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
