// What this subgraph uses of oidc-provider, which has no types of its own.
declare module 'oidc-provider' {
  import type { KeyObject } from 'node:crypto';
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export type Context = {
    req: IncomingMessage;
    method: string;
    path: string;
    query: Record<string, string | string[] | undefined>;
    /** That of the client. */
    ip: string;
    status: number;
    type: string;
    body: unknown;
    get(header: string): string;
    set(header: string, value: string): void;
    redirect(url: string): void;
    cookies: {
      get(name: string): string | undefined;
      set(name: string, value: string | null, options: object): void;
    };
    /** Absent on the paths of pages. */
    oidc?: RequestContext;
  };

  export type RequestContext = {
    client?: Client;
    session?: Session;
    account?: { accountId: string };
    requestParamScopes: Set<string>;
    /** What the last interaction resulted in. */
    result?: Result;
    entities: Record<string, unknown>;
    promptPending(name: string): boolean;
  };

  export type Result = {
    login?: { accountId: string; ts: number };
    consent?: { grantId: string };
    error?: string;
    error_description?: string;
  };

  export type Client = {
    clientId: string;
    clientName: string;
    clientSecret?: string;
    clientAuthMethod: string;
    applicationType: 'native' | 'web';
    redirectUris: string[];
    origins: string[];
    partner_id: string;
    is_first_party: boolean;
    compareClientSecret(given: string): boolean;
    redirectUriAllowed(uri: string): boolean;
    postLogoutRedirectUriAllowed(uri: string): boolean;
  };

  export type Session = {
    jti: string;
    uid: string;
    accountId?: string;
    state?: { secret: string; state?: string; postLogoutRedirectUri?: string };
    new?: true;
    loginAccount(details: { accountId: string }): void;
    resetIdentifier(): void;
    save(ttlSeconds: number): Promise<string>;
    destroy(): Promise<void>;
  };

  export type Interaction = {
    exp: number;
    prompt: { name: string };
    params: Record<string, string | undefined>;
    returnTo: string;
    session?: { accountId: string; uid: string } | undefined;
    result?: Result;
    lastSubmission?: Result;
    save(ttlSeconds: number): Promise<string>;
  };

  export type Grant = {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  };

  export type RefreshToken = { iiat: number };
  /** A code or a refresh token, from which tokens are issued. */
  export type GrantSource = { grantId: string };

  type Next = () => Promise<void>;
  export class Provider {
    constructor(issuer: string, configuration: object);
    proxy: boolean;
    use(middleware: (ctx: Context, next: Next) => Promise<void>): this;
    on(event: 'server_error', listener: (ctx: Context, error: unknown) => void): this;
    callback(): (req: IncomingMessage, res: ServerResponse) => void;
    /** This and the next one are for tests alone. */
    interactionDetails(req: IncomingMessage, res: ServerResponse): Promise<Interaction>;
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: object): Promise<void>;
    Client: { find(clientId: unknown): Promise<Client | undefined>; prototype: Client };
    Session: { new (): Session; get(ctx: Context): Promise<Session>; prototype: Session };
    Interaction: { find(id: string): Promise<Interaction | undefined> };
    Grant: {
      new (values: { accountId: string; clientId: string }): Grant;
      find(id: string): Promise<Grant | undefined>;
    };
  }

  type Failure = new (description?: string) => Error;
  export const errors: { InvalidGrant: Failure; InvalidTarget: Failure };

  type Check = (ctx: Context & { oidc: RequestContext }) => boolean;
  type Checks = { add(check: object): void; remove(name: string): void };
  export const interactionPolicy: {
    Check: new (reason: string, description: string, error: string, check: Check) => object;
    base(): { get(name: string): { checks: Checks } };
  };

  export class ExternalSigningKey {
    kid: string | undefined;
    alg: string | undefined;
    keyObject: () => KeyObject;
  }
}
