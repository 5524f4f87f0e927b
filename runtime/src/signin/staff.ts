// What the gateway sends to the members subgraph to sign in a partner's staff and to mail them.
// Requests and answers are JSON texts in the operations `staffSignIn` and `mailStaff`.

/**
 * `id` and `known` are what the browser's cookies hold: the sign-ins that it has begun, and that it
 * has signed in before.
 */
export type StaffSignIn =
  /** Without `isStaff`, all is the same but the mail. */
  | {
      kind: 'begin';
      email: string;
      isStaff: boolean;
      /** The address as typed at the invitation; without it, mail goes to the canonical form. */
      staffEmail?: string | undefined;
      clientAddress: string;
      /** The language of the mail, such as `en`. */
      language: string;
      id?: string | undefined;
      known?: string | undefined;
    }
  | { kind: 'code'; id: string; code: string; known?: string | undefined }
  | { kind: 'link'; id: string; token: string; known?: string | undefined };

export type StaffSignInAnswer =
  | { outcome: 'invalid' | 'limited' }
  /** `id` is what the browser is to hold, and `address` as typed. */
  | { outcome: 'begun'; id: string; address: string }
  | { outcome: 'wrong' | 'expired'; address: string }
  /** The sign-in of a link was begun in another browser, or it is over. */
  | { outcome: 'elsewhere' }
  /**
   * `id` is what the browser is to hold, if anything; `address` is canonical. `session` is the
   * secret of its session, the same if the sign-in is repeated; the former version sends none.
   */
  | {
      outcome: 'proven';
      id?: string | undefined;
      address: string;
      known: string;
      session?: string;
    };

/** A mail about something of a partner, to all of its staff, or to the person it is about. */
export type StaffNotice = {
  /** The same if it is sent again. */
  noticeId: string;
  letter: 'keyExpires' | 'webhookFailing' | 'webhookDisabled' | 'staffInvited';
  partnerId: string;
  /** What it is about: an ID, and what people call it; or the address that was invited. */
  about: string;
  /** When a key expires, in milliseconds since 1970. */
  until?: number | undefined;
  recipients: StaffRecipient[];
};

export type StaffRecipient = {
  staffId: string;
  /** Canonical. */
  address: string;
  /** The address as it was typed at the invitation; without it, mail goes to the canonical form. */
  email?: string | undefined;
  /** The language of the last sign-in, if any. */
  language?: string | undefined;
};
