// What the emails say, in English. Names in them are on one line already.

export type Paragraph = string | { link: string; label: string };
export type Letter = { subject: string; paragraphs: Paragraph[] };

const IGNORE = 'If this was not you, you can ignore this email';
const DO_NOT_SHARE = 'Do not share the link with anyone.';

export const EN = {
  magicLink: (partner: string, link: string, minutes: number): Letter => ({
    subject: `Sign in to ${partner}`,
    paragraphs: [
      `Someone, most likely you, asked to sign in to ${partner} with this email address.`,
      'To sign in, open this link:',
      { link, label: 'Sign in' },
      `The link works once and expires in ${minutes} minutes.`,
      `${IGNORE}: nobody can sign in without the link. ${DO_NOT_SHARE}`,
    ],
  }),
  code: (code: string, link: string, minutes: number): Letter => ({
    subject: `Your code is ${code}`,
    paragraphs: [
      'Someone, most likely you, began to sign in with this email address.',
      `To sign in, type this code where you began: ${code}`,
      'Or open this link in the same browser:',
      { link, label: 'Sign in' },
      `Both work once and expire in ${minutes} minutes.`,
      `${IGNORE}: nobody can sign in without them. Do not tell anyone the code.`,
    ],
  }),
  invitation: (partner: string, link: string, days: number): Letter => ({
    subject: `${partner} invites you`,
    paragraphs: [
      `${partner} would like to enroll you with this email address.`,
      'To see what this means and to agree to it, open this link:',
      { link, label: 'See the invitation' },
      `The link works once and expires in ${days} days.`,
      `If you do not want this, you can ignore this email: nothing happens without the link. ${DO_NOT_SHARE}`,
    ],
  }),
  change: (link: string, minutes: number): Letter => ({
    subject: 'Confirm your new email address',
    paragraphs: [
      'A member asked us to use this email address from now on.',
      'If this was you, confirm the address with this link:',
      { link, label: 'Confirm the address' },
      `The link works once and expires in ${minutes} minutes.`,
      `${IGNORE}: nothing changes without the link. ${DO_NOT_SHARE}`,
    ],
  }),
  changed: (link: string, until: Date): Letter => ({
    subject: 'Your email address was changed',
    paragraphs: [
      'The email address of your membership was changed. We will send no more email to this one.',
      'If this was not you, take your address back with this link:',
      { link, label: 'Undo the change' },
      `The link works once, until ${until.toUTCString()}.`,
      `If this was you, you can ignore this email. ${DO_NOT_SHARE}`,
    ],
  }),
  undone: (link: string, until: Date): Letter => ({
    subject: 'Your email address was changed back',
    paragraphs: [
      'Someone with access to the former mailbox of your membership has undone the change to this ' +
        'email address. We will send no more email to this one, and every session has ended.',
      'If this was not you, contest it with this link. Until we have looked into it, nobody can ' +
        'sign in by email or change the address:',
      { link, label: 'Contest this' },
      `The link works once, until ${until.toUTCString()}.`,
      `If this was you, you can ignore this email. ${DO_NOT_SHARE}`,
    ],
  }),
};
