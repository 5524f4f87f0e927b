// The pages of /sign-in with a fixed text.
import { textPage } from '../pages/layout.ts';

export const INVALID_LINK = textPage(
  'This link does not work',
  'It has already been used, it has expired, or it is incomplete. Please request a new one.',
);
export const ADDRESS_IN_USE = textPage(
  'This address cannot be used',
  'It belongs to another member. Your address has not changed.',
);
export const ADDRESS_LOCKED = textPage(
  'Your membership is protected',
  'Until we have looked into it, nobody can sign in by email or change the address. ' +
    'Please contact us.',
);
export const TOO_MANY_ATTEMPTS = textPage(
  'Too many attempts',
  'Please wait a minute and try again.',
);
export const FOREIGN_FORM = textPage(
  'This form was not sent from our page',
  'Please open the link in your mail again.',
);
export const SIGN_IN_ELSEWHERE = textPage(
  'You cannot sign in here',
  'Please sign in where you usually do. Your link has not been used.',
);
export const SESSION_ENDED = textPage(
  'You are signed out',
  'Your session has ended. Please request a new link.',
);
export const SIGNED_OUT = textPage(
  'You are signed out',
  'To see your profile again, please request a new link.',
);
export const WRONG_METHOD = textPage(
  'This page does not support that',
  'Please open the link in your mail.',
);
