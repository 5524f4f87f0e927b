// What the command and the console ask for about a partner's apps, and the answers.

/** An app as it may be shown. */
export type ManagedApp = {
  clientId: string;
  name: string;
  redirectUris: string[];
  /** The origins of its pages, as browsers send them. */
  origins: string[];
  kind: 'public' | 'confidential';
  isFirstParty: boolean;
  /** In milliseconds since 1970. */
  createdAt: number;
};

export type NewApp = {
  name: string;
  redirectUris: string[];
  /** None, or undefined: those of the https redirect URIs. */
  origins?: string[] | undefined;
  isConfidential: boolean;
  /** Only an operator may say so. */
  isFirstParty?: boolean | undefined;
};

type OfOne = { clientId: string };

/** What is undefined stays, but for origins of the redirect URIs, which follow these. */
export type AppChange = {
  [Part in 'name' | 'redirectUris' | 'origins']?: NewApp[Part] | undefined;
};

/** The input of each action, and its answer if it is not refused. A secret cannot be read again. */
type AppActions = {
  list: [object, { apps: ManagedApp[] }];
  create: [NewApp, { app: ManagedApp; secret?: string | undefined }];
  update: [OfOne & AppChange, { app: ManagedApp }];
  /** The secret before works for 24 more hours. */
  rotate: [OfOne, { app: ManagedApp; secret: string }];
  /** Its tokens are refused within 5 seconds. */
  remove: [OfOne, { app: ManagedApp }];
};

export type AppAction = keyof AppActions;
export type AppInput<Action extends AppAction> = AppActions[Action][0];
export type AppRequest<Action extends AppAction> = AppInput<Action> & {
  action: Action;
  /** An app of another partner is unknown. */
  partnerId: string;
};
export type AppAnswer<Action extends AppAction> = AppActions[Action][1] | AppRefusal;

/** Does what is asked for. Operators may do more than the partner's staff. */
export type ManageApps = <Action extends AppAction>(
  request: AppRequest<Action>,
  by: 'operator' | 'staff',
) => Promise<AppAnswer<Action>>;

/**
 * There is no such app; the partner has as many as it may have; it has no secret; only an operator
 * may change it; members know nothing of the partner; an argument has a fault.
 */
export type AppRefusal =
  | { refused: 'unknown' | 'tooMany' | 'public' | 'firstParty' | 'noPartner' }
  | { refused: 'invalid'; argument: 'name' | 'redirectUris' | 'origins'; fault: string };

/** The origins of the pages that redirect URIs lead to. */
export function originsOf(uris: readonly string[]): string[] {
  return [
    ...new Set(uris.filter((uri) => uri.startsWith('https:')).map((uri) => new URL(uri).origin)),
  ];
}

/** The origins that were given for an app; undefined if it has those of its redirect URIs. */
export function ownOrigins(app: Pick<ManagedApp, 'origins' | 'redirectUris'>) {
  return app.origins.join() === originsOf(app.redirectUris).join() ? undefined : app.origins;
}
