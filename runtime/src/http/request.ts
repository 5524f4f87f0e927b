// A plain view of node:http's request: path, ID, client address and a bounded body.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../errors.ts';
import { hasSecret } from '../observe/secrets.ts';
import { addressSite, clientAddress, type createTrust } from './address.ts';
import { readBody } from './body.ts';
import type { Connection, Exchange } from './connection.ts';
import type { RequestHeaders } from './headers.ts';
import { type InProgress, PEOPLE, type Shares, SIGNER } from './shares.ts';

export type HttpRequest = {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** The query string with its `?`, or empty. */
  readonly search: string;
  readonly headers: RequestHeaders;
  /** The client's address: the socket's, or the one that a trusted proxy reports. */
  readonly address: string;
  /** 1 to 128 characters of `[A-Za-z0-9._-]`, without a key or token. */
  readonly requestId: string;
  /** Aborts if the client goes away before the whole response is sent. */
  readonly signal: AbortSignal;
  /** Who is signed in with the browser, if that is known. Its requests have no other owner. */
  person?: string | undefined;
  /** Whether it has been counted as one for a page. */
  isCounted?: boolean;
  /**
   * Reads the whole body; call it once. Rejects with an ApiError: UNSUPPORTED_MEDIA_TYPE if it is
   * compressed, PAYLOAD_TOO_LARGE above `limitBytes`, BAD_REQUEST if the client stops early.
   */
  body(limitBytes: number): Promise<Buffer>;
  /**
   * Counts the request as one in progress of its owner, once its body is complete: the ID of a
   * partner or member with a valid credential, SIGNER for the gateway that signed it, or undefined
   * for everybody else. Throws or rejects with SERVICE_UNAVAILABLE if the owner has too many or
   * the client is gone. Await what it returns: it may not be the owner's turn yet, nor may there be
   * memory for `bytes`, about what the parsed body takes. Later calls only wait for the turn.
   */
  admit(owner: string | undefined, bytes?: number): Promise<void> | undefined;
  /**
   * Waits for the owner's turn again; call it before a long step. With `isLarge`, waits first to be
   * one of the few that take much memory.
   */
  turn(isLarge?: boolean): Promise<void> | undefined;
  /** Waits for memory for a response of about so many bytes; call it before it is built. */
  reserve(bytes: number): Promise<void> | undefined;
};

/** What all requests of a server share. */
export type RequestContext = {
  newId: () => string;
  trusted: ReturnType<typeof createTrust>;
  /** Called if a sender that is no trusted proxy names a client address. */
  ignored(sender: string): void;
  shares: Shares;
};

const CALLER_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Computes the address and the signal on first use: most requests need neither. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: RequestHeaders;
  readonly requestId: string;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
  person: string | undefined = undefined;
  isCounted = false;
  private readonly incoming: IncomingMessage;
  private readonly outgoing: ServerResponse;
  private readonly connection: Connection;
  private readonly context: RequestContext;
  private controller: AbortController | undefined = undefined;
  private inProgress: InProgress | undefined = undefined;
  private isHandled = false;
  private hasEnded = false;

  constructor(
    { incoming, outgoing, awaitsContinue }: Exchange,
    connection: Connection,
    context: RequestContext,
  ) {
    const { url = '/', method = '', headers } = incoming;
    const target = url.charCodeAt(0) === 47 ? url : originForm(url);
    const mark = target.indexOf('?');
    const id = headers['x-request-id'];
    this.method = method;
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.search = mark === -1 ? '' : target.slice(mark);
    this.headers = headers;
    this.requestId = typeof id === 'string' && isUsableId(id) ? id : context.newId();
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.awaitsContinue = awaitsContinue;
    this.connection = connection;
    this.context = context;
  }

  get address(): string {
    const { remoteAddress = '' } = this.incoming.socket;
    const forwardedFor = this.headers['x-forwarded-for'];
    if (typeof forwardedFor !== 'string')
      return clientAddress(remoteAddress, undefined, this.context.trusted);
    if (!this.connection.isProxy) this.context.ignored(remoteAddress);
    return clientAddress(remoteAddress, forwardedFor, this.context.trusted);
  }

  get signal(): AbortSignal {
    if (this.controller !== undefined) return this.controller.signal;
    const { outgoing } = this;
    const controller = new AbortController();
    this.controller = controller;
    if (outgoing.destroyed) controller.abort();
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) controller.abort();
    });
    return controller.signal;
  }

  body(limitBytes: number): Promise<Buffer> {
    const { connection, incoming, outgoing } = this;
    if (!/^(?:identity)?$/i.test(this.headers['content-encoding'] ?? ''))
      return Promise.reject(
        new ApiError('UNSUPPORTED_MEDIA_TYPE', 'the body may not be compressed'),
      );
    if (Number(this.headers['content-length']) > limitBytes)
      return Promise.reject(new ApiError('PAYLOAD_TOO_LARGE'));
    if (this.awaitsContinue) {
      this.awaitsContinue = false;
      outgoing.writeContinue();
    }
    return readBody(incoming, limitBytes, connection);
  }

  admit(owner: string | undefined, bytes = 0): Promise<void> | undefined {
    const { connection, person } = this;
    if (this.inProgress !== undefined) return this.turn();
    // It has ended already, so nothing would end what begins now.
    if (this.outgoing.destroyed) throw new ApiError('SERVICE_UNAVAILABLE');
    const { shares } = this.context;
    if ((owner ?? person) !== undefined) connection.shownAt = performance.now();
    if (owner === SIGNER) connection.isSigned = true;
    // An owner's address is never needed, and finding it takes 3 µs.
    const part = owner === undefined ? addressSite(this.address) : '';
    this.inProgress = shares.begin(owner ?? (person && PEOPLE), part);
    connection.owner = this.inProgress.owner;
    return this.inProgress.start(bytes);
  }

  turn(isLarge?: boolean): Promise<void> | undefined {
    return this.inProgress?.turn(isLarge);
  }

  reserve(bytes: number): Promise<void> | undefined {
    return this.inProgress?.reserve(bytes);
  }

  /** The response has this many bytes. */
  takes(bytes: number): void {
    this.inProgress?.takes(bytes);
  }

  /** The response is made. */
  handled(): void {
    this.isHandled = true;
    if (this.hasEnded) this.inProgress?.end();
  }

  /** The response is taken or cannot be sent. The place is free once the request is handled too. */
  end(): void {
    this.hasEnded = true;
    if (this.isHandled) this.inProgress?.end();
    else this.inProgress?.abandon();
  }
}

/**
 * Path and query of a target that does not start with a slash: an absolute URL (RFC 9112, section
 * 3.2.2), or `*`. The host is not looked at: parsing one of 16 KB takes milliseconds.
 */
function originForm(target: string): string {
  const [, rest] = /^https?:\/\/[^/?#]+([^#]*)/i.exec(target) ?? [];
  if (rest === undefined) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Some callers paste a secret there, which must not be repeated. */
function isUsableId(id: string): boolean {
  return CALLER_ID.test(id) && !hasSecret(id);
}
