// What the gateway lends its extensions, and what an extension adds to it.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Tracing } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import type { Lifecycle } from '@partner-loyalty/runtime/process/lifecycle.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Audit } from './audit.ts';
import type { Counters } from './budget/counters.ts';
import type { Limiter } from './budget/limiter.ts';
import type { Documents } from './document/documents.ts';
import type { ObserveRequest } from './edge/requestline.ts';
import type { GraphStore } from './graph/graph.ts';
import type { ServedGraphs } from './graph/served.ts';
import type { Keyring } from './identity/keyring.ts';
import type { KeyStore } from './identity/keystore.ts';
import type { Origins, OwnProvider } from './identity/ownprovider.ts';
import type { createShared } from './operate.ts';
import type { Forms } from './pages/forms.ts';
import type { BrowserSessions, Visit } from './pages/visit.ts';

import type { Usage } from './usage/usage.ts';

/** What a gateway is built from. Whoever opened it closes it. */
export type GatewayParts = Usage & {
  settings: Settings;
  keyStore: KeyStore;
  counters: Counters;
  graphs: ServedGraphs;
  graphStore: GraphStore;
  documents: Documents;
  /** Undefined if there is no audit log. */
  audit: Audit | undefined;
  log: Log;
  metrics: Metrics;
  caches: Caches;
  tracing?: Tracing | undefined;
};

/** Everything that an extension may use. */
export type Core = GatewayParts &
  ReturnType<typeof createShared> & {
    /** The base URL of this environment, and that of the other one. */
    own: string;
    other: string;
    isSandbox: boolean;
    ownProvider: OwnProvider;
    /** The origins of registered apps; undefined if members sign in with another provider. */
    apps: Origins | undefined;
    limiter: Limiter;
    keyring: Keyring;
    observe: ObserveRequest;
    /** Handles a request to `/graphql` or to a path that does not exist. */
    graphql: Handle;
    visit: Visit;
    forms: Forms;
  };

type Handle = (request: HttpRequest) => Promise<HttpResponse>;

export type Extension = {
  sessions?: BrowserSessions | undefined;
  /** Returns undefined, without doing anything, if the path is not this extension's. */
  handle?(request: HttpRequest): Promise<HttpResponse> | undefined;
  /** Ends what it does in the background. */
  close?(): Promise<void>;
};

/** What the module of an extension exports. */
export type GatewayExtension = {
  /** Called once, before the gateway serves. The first request for it loads most of its code. */
  open?(core: Core): Extension;
  /** Opens what counts the use of the API. The lifecycle closes it. */
  openUsage?(
    settings: Settings,
    core: { caches: Caches; log: Log; metrics: Metrics; lifecycle: Lifecycle },
  ): Promise<Usage>;
  /** Throws if the audit log that is set cannot be written. */
  openAudit?(settings: Settings, observe: { log: Log; metrics: Metrics }): Audit | undefined;
};
