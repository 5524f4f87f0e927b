// What members read: the letters, each as text and as HTML that loads nothing and tracks nobody.

/** One mail. `to` is a canonical address out of the store. */
export type Email = { to: string; subject: string; text: string; html: string };

/** The answer to a partner's requestMagicLink. */
export function magicLinkEmail(
  to: string,
  partnerName: string,
  link: string,
  minutes: number,
): Email {
  const partner = oneLine(partnerName);
  return letter(to, `Sign in to ${partner}`, [
    `Someone, most likely you, asked to sign in to ${partner} as a member with this email address.`,
    'To sign in, open this link:',
    { link, label: 'Sign in' },
    `It works once, for ${minutes} minutes.`,
    'If it was not you, there is nothing to do: nobody can sign in without this link. Please pass it on to no one.',
  ]);
}

/** To the new address, which whoever opens the link proves to hold. */
export function changeEmail(to: string, link: string, minutes: number): Email {
  return letter(to, 'Confirm your new email address', [
    'A member asked us to use this email address from now on.',
    'If that was you, confirm it with this link:',
    { link, label: 'Confirm the address' },
    `It works once, for ${minutes} minutes.`,
    'If it was not you, there is nothing to do: nothing changes without this link. Please pass it on to no one.',
  ]);
}

/** To the former address. It does not name the new one: the former mailbox may be somebody else's by now. */
export function changedEmail(to: string, link: string, until: Date): Email {
  return letter(to, 'Your email address was changed', [
    'The email address of your membership was changed. This is our last mail to this one, the former address.',
    'If it was not you, get it back with this link:',
    { link, label: 'Undo the change' },
    `It works once, until ${until.toUTCString()}.`,
    'If it was you, there is nothing to do. Please pass the link on to no one.',
  ]);
}

type Paragraph = string | { link: string; label: string };

function letter(to: string, subject: string, paragraphs: Paragraph[]): Email {
  const text = paragraphs.map((one) => (typeof one === 'string' ? one : one.link)).join('\n\n');
  const body = paragraphs.map((one) =>
    typeof one === 'string' ? `<p>${escaped(one)}</p>` : anchor(one.link, one.label),
  );
  const html = [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em; margin: 1em auto; padding: 0 1em">',
    ...body,
    '</body></html>',
  ];
  return { to, subject, text: `${text}\n`, html: `${html.join('\n')}\n` };
}

function anchor(link: string, label: string): string {
  const style =
    'display: inline-block; padding: 0.6em 1.2em; background: #1a4d8f; color: #ffffff; text-decoration: none; border-radius: 4px';
  return `<p><a href="${escaped(link)}" style="${style}">${escaped(label)}</a></p>\n<p style="word-break: break-all">${escaped(link)}</p>`;
}

// Line breaks would begin a header, and characters that turn the writing direction would hide what a name says.
function oneLine(name: string): string {
  return name.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
