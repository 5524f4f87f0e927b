// What the gateway and the built-in identity provider, in the members subgraph, send each other.
// Gateways of protocol 3 send both as JSON texts in the operation `identityRequest`.

/** A request for a path of the provider, as a browser or an app sent it. */
export type IdentityRequest = {
  method: string;
  path: string;
  /** The query string with its question mark, or empty. */
  search: string;
  /** Only headers in FORWARDED_HEADERS, with names in lower case. */
  headers: Record<string, string>;
  /** At most 64 KiB. */
  body: string;
  clientAddress: string;
  /** The language of pages for the reader, such as `en`. */
  language: string;
  /** Names a form and the browser that sends it, which may send it again. */
  formId?: string | undefined;
};

export const FORWARDED_HEADERS = [
  ...['cookie', 'authorization', 'content-type', 'accept', 'user-agent', 'sec-fetch-mode'],
] as const;

/** Answers with the claims behind an access token, whose own claims are the body, in JSON. */
export const USERINFO_PATH = '/oauth/userinfo';

/** Answers with the member who is signed in with a session, whose ID is the body. No URL has it. */
export const SESSION_PATH = 'session';

/** A response to pass through, or an account that the gateway renders with the member's profile. */
export type IdentityResponse = {
  status: number;
  headers: Readonly<Record<string, string | string[] | number | undefined>>;
  body?: string | undefined;
  account?: Account | undefined;
  /**
   * What the request counts as: one with a valid credential, or a refused credential of its
   * address. Absent: a page.
   */
  counts?: 'valid' | 'refused' | undefined;
  /** The partner whose app showed its secret, and the app; or who is signed in. */
  owner?: string | undefined;
  clientId?: string | undefined;
};

/** What a mailed link is for. */
export type LinkKind = 'signIn' | 'confirmChange' | 'undoChange' | 'contestUndo';

/**
 * Its forms post to `action`: `leave`, `revoke` and `end` with an ID, `sign-out`, `firstName` with
 * `lastName`, or `new-email`.
 */
export type Account = {
  action: string;
  /** An ID token of the member, with which the gateway reads the profile. */
  token: string;
  /** Times are in milliseconds since 1970. */
  apps: { clientId: string; appName: string; partnerName: string; agreedAt: number }[];
  sessions: { sessionId: string; usedAt: number; browser: string; isThis: boolean }[];
  /** Whether it is one partner's view, in which names and address cannot be changed. */
  isLimited: boolean;
  notice?: AccountNotice | undefined;
};

export type AccountNotice =
  | { name: 'linkSent'; email: string }
  | {
      name:
        | 'invalidAddress'
        | 'invalidNames'
        | 'namesChanged'
        | 'left'
        | 'revoked'
        | 'sessionEnded';
    };

/**
 * What ended at `endedAt`, in milliseconds since 1970: tokens of it that were issued until then are
 * not valid. `subject` is `member:ID`, `sid:ID`, `app:MEMBER/CLIENT` or `client:ID`.
 */
export type EndedSubject = { subject: string; endedAt: number };
