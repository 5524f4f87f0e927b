// The links that members receive by mail: what each kind is for, and how its token looks.

export type LinkKind = 'signIn' | 'confirmChange' | 'undoChange' | 'contestUndo';

export type Link = { title: string; text: string; button: string };

export const LINKS: Record<LinkKind, Link> = {
  signIn: {
    title: 'Sign in',
    text: 'Press the button to sign in and see your profile.',
    button: 'Sign in',
  },
  confirmChange: {
    title: 'Confirm your new email address',
    text: 'Press the button to make this your email address.',
    button: 'Confirm the new address',
  },
  undoChange: {
    title: 'Undo the change of your email address',
    text: 'Press the button to get your former email address back.',
    button: 'Undo the change',
  },
  contestUndo: {
    title: 'Contest the loss of your email address',
    text:
      'Press the button if somebody else has taken this email address off your membership. ' +
      'Until we have looked into it, nobody can sign in by email or change the address.',
    button: 'Contest this',
  },
};

const KINDS = new Map<string, LinkKind>([
  ['ml_', 'signIn'],
  ['ec_', 'confirmChange'],
  ['eu_', 'undoChange'],
  ['co_', 'contestUndo'],
]);

/** The kind of link that a token belongs to, by its prefix. */
export function linkKind(token: string): LinkKind | undefined {
  return KINDS.get(token.slice(0, 3));
}

/** Whether a text can be a token of `/sign-in` at all. */
export function isWellFormed(token: string): boolean {
  return linkKind(token) !== undefined && REST.test(token.slice(3));
}

/** Whether a text can be the token of an invitation. */
export function isInvitation(token: string): boolean {
  return token.startsWith('in_') && REST.test(token.slice(3));
}

/** What follows the prefix. */
const REST = /^[A-Za-z0-9_-]{10,200}$/;
