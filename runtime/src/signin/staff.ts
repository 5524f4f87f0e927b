// What the gateway and the members subgraph send each other to sign in a partner's staff.
// Both are JSON texts in the operation `staffSignIn`; the mail is the subgraph's.

/** `id` and `known` are what cookies of the browser hold. */
export type StaffSignIn =
  /** Without `isStaff`, all is the same but the mail. */
  | {
      kind: 'begin';
      email: string;
      isStaff: boolean;
      clientAddress: string;
      /** The language of the mail, such as `en`. */
      language: string;
      known?: string | undefined;
    }
  | { kind: 'code'; id: string; code: string; known?: string | undefined }
  | { kind: 'link'; id: string; token: string; known?: string | undefined };

export type StaffSignInAnswer =
  | { outcome: 'invalid' | 'limited' }
  /** `address` is as typed. */
  | { outcome: 'begun'; id: string; address: string }
  | { outcome: 'wrong' | 'expired'; address: string }
  /** The sign-in of a link was begun in another browser, or it is over. */
  | { outcome: 'elsewhere' }
  /** `address` is canonical. */
  | { outcome: 'proven'; address: string; known: string };
