// The links that members receive by mail, and how their tokens look.
import type { LinkKind } from '@partner-loyalty/runtime/signin/exchange.ts';

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
