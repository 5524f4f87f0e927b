// The email templates: what members read, as text and as HTML that loads nothing and tracks nobody.
// Their links are never made from the host that a request names.

const IGNORE = 'If this was not you, you can ignore this email';
const DO_NOT_SHARE = 'Do not share the link with anyone.';

/** `to` is a canonical address from the store. */
export type Email = { to: string; subject: string; text: string; html: string };

/** Sent when a partner requests a magic link. */
export function magicLinkEmail(
  to: string,
  partnerName: string,
  link: string,
  minutes: number,
): Email {
  const partner = oneLine(partnerName);
  return email(to, `Sign in to ${partner}`, [
    `Someone, most likely you, asked to sign in to ${partner} with this email address.`,
    'To sign in, open this link:',
    { link, label: 'Sign in' },
    `The link works once and expires in ${minutes} minutes.`,
    `${IGNORE}: nobody can sign in without the link. ${DO_NOT_SHARE}`,
  ]);
}

/** Sent when somebody begins to sign in on this service's own page. */
export function codeEmail(to: string, code: string, link: string, minutes: number): Email {
  const shown = `${code.slice(0, 4)}-${code.slice(4)}`;
  return email(to, `Your code is ${shown}`, [
    'Someone, most likely you, began to sign in with this email address.',
    `To sign in, type this code where you began: ${shown}`,
    'Or open this link in the same browser:',
    { link, label: 'Sign in' },
    `Both work once and expire in ${minutes} minutes.`,
    `${IGNORE}: nobody can sign in without them. Do not tell anyone the code.`,
  ]);
}

/**
 * Sent when a partner invites somebody. Contains nothing from the partner except its name, so that
 * nobody can send messages of their own through this service.
 */
export function invitationEmail(
  to: string,
  partnerName: string,
  link: string,
  days: number,
): Email {
  const partner = oneLine(partnerName);
  return email(to, `${partner} invites you`, [
    `${partner} would like to enroll you with this email address.`,
    'To see what this means and to agree to it, open this link:',
    { link, label: 'See the invitation' },
    `The link works once and expires in ${days} days.`,
    `If you do not want this, you can ignore this email: nothing happens without the link. ${DO_NOT_SHARE}`,
  ]);
}

/** Sent to the new address; whoever opens the link proves that they have access to it. */
export function changeEmail(to: string, link: string, minutes: number): Email {
  return email(to, 'Confirm your new email address', [
    'A member asked us to use this email address from now on.',
    'If this was you, confirm the address with this link:',
    { link, label: 'Confirm the address' },
    `The link works once and expires in ${minutes} minutes.`,
    `${IGNORE}: nothing changes without the link. ${DO_NOT_SHARE}`,
  ]);
}

/**
 * Sent to the former address. Does not name the new one: the former mailbox may belong to somebody
 * else by now.
 */
export function changedEmail(to: string, link: string, until: Date): Email {
  return email(to, 'Your email address was changed', [
    'The email address of your membership was changed. We will send no more email to this one.',
    'If this was not you, take your address back with this link:',
    { link, label: 'Undo the change' },
    `The link works once, until ${until.toUTCString()}.`,
    `If this was you, you can ignore this email. ${DO_NOT_SHARE}`,
  ]);
}

/**
 * Sent to an address that undoing took away. Does not name the one that is current instead: either
 * mailbox may be somebody else's.
 */
export function undoneEmail(to: string, link: string, until: Date): Email {
  return email(to, 'Your email address was changed back', [
    'Someone with access to the former mailbox of your membership has undone the change to this ' +
      'email address. We will send no more email to this one, and every session has ended.',
    'If this was not you, contest it with this link. Until we have looked into it, nobody can ' +
      'sign in by email or change the address:',
    { link, label: 'Contest this' },
    `The link works once, until ${until.toUTCString()}.`,
    `If this was you, you can ignore this email. ${DO_NOT_SHARE}`,
  ]);
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

type Paragraph = string | { link: string; label: string };

function email(to: string, subject: string, paragraphs: Paragraph[]): Email {
  const text = paragraphs.map((one) => (typeof one === 'string' ? one : one.link)).join('\n\n');
  const body = paragraphs.map((one) =>
    typeof one === 'string' ? `<p>${escaped(one)}</p>` : anchor(one.link, one.label),
  );
  const html = [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head>`,
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
