// What the members subgraph lends the built-in identity provider, and what that adds to it.
import type { ManageApps } from '@partner-loyalty/runtime/manage/apps.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { Inbox } from './mail/inbox.ts';
import type { EnqueueMail } from './resolvers/mail.ts';
import type { MembersStore } from './store/store.ts';

export type MembersCore = {
  store: MembersStore;
  settings: Pick<Settings, 'environment' | 'idTokenIssuer'>;
  /** The base address of the service, which may have a path: the issuer of tokens. */
  issuer: string;
  /** Undefined in production. */
  inbox: Inbox | undefined;
  enqueueMail: EnqueueMail;
  /** Wakes the mail worker, after a job was added. */
  wake(): void;
  log: Log;
  metrics: Metrics;
};

/** Members sign in elsewhere if there is only `staffSignIn`. */
export type IdentityProvider = {
  /** Handles the requests of members and apps. */
  forward?: Subgraph['forward'];
  /** The same for gateways of protocol 3, in JSON texts. */
  forwardText?: ((request: string) => Promise<string>) | undefined;
  manageApps?: ManageApps | undefined;
  /** Signs staff in for the console, in JSON texts as runtime/src/signin/staff.ts has them. */
  staffSignIn(request: string): Promise<string>;
  /** Ends work in the background, before the store closes. */
  close?(): Promise<void>;
};

/** What the module of an extension exports. */
export type MembersExtension = { openProvider(core: MembersCore): IdentityProvider };
