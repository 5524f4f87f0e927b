// A connection: what arrives on it reaches node:http piece by piece, one request at a time.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Address, addressBlock, addressSite, parseAddress } from './address.ts';
import type { Shares } from './shares.ts';

/** Ends a request's head, and a chunked body (RFC 9112, sections 2.1 and 7.1). */
const EMPTY_LINE = '\r\n\r\n';
const LINE_END = '\r\n';
/** A piece of a head whose end has not come yet. */
const HEAD_PIECE = 4_096;
/** A piece of a chunked body, whose end only the parser sees. */
const CHUNKED_PIECE = 256;
const CHUNKS_AT_ONCE = 16 * CHUNKED_PIECE;
/** How much a client may still send after a response that ends its connection. */
const DISCARDED_BYTES = 64 * 1024;
const DISCARDED_MS = 1_000;

/** How many requests are answered of those that had arrived when the first one was parsed. */
const TOGETHER = 16;

/** A request that node:http has parsed, and the response to it. */
export type Exchange = {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** Whether the client sends the body only after `100 Continue`. */
  awaitsContinue: boolean;
};

/** A body that a handler reads. */
export type ArrivingBody = {
  /** The bytes that it keeps. */
  readonly length: number;
  /** Ends it: the handler's promise rejects. */
  tooSlow(): void;
  /** Ends it if its chunks, headers included, are too long. */
  checkChunks(): void;
};

type ConnectionParts = Pick<Shares, 'mayRun' | 'later'> & {
  isTrusted(address: Address): boolean;
  /** Returns what is to be called when the response is taken or cannot be sent. */
  serve(connection: Connection, exchange: Exchange): () => void;
  /** A response was written that the kernel has not taken. */
  unread(connection: Connection): void;
  /** The connection has a body that is not complete, or bytes that wait; or it had until now. */
  arriving(connection: Connection): void;
};

/**
 * Takes over a connection that node:http has accepted. On its own, node:http makes an object of
 * every request that it receives, before it answers the first one. Here, a request is parsed when
 * the one before it is answered and the kernel has taken the response; until then its bytes wait,
 * at most as many as one read brings, and the socket is not read.
 */
export class Connection {
  readonly socket: Socket;
  /** The unit by which addresses are counted. */
  readonly block: string;
  /** The unit by which the address with most connections is found. */
  readonly site: string;
  readonly isProxy: boolean;
  /** On performance.now()'s clock. */
  activeAt = performance.now();
  /** Whether it is a gateway's: a request on it had a valid signature. */
  isSigned = false;
  /** When it last showed a valid credential. */
  shownAt = Number.NEGATIVE_INFINITY;
  /** Whose response it has. */
  owner: string | undefined = undefined;
  /** The response that is not sent yet. */
  serving: ServerResponse | undefined = undefined;
  /** The body that the handler reads. */
  body: ArrivingBody | undefined = undefined;
  /** All bytes that the parser got. */
  parsedBytes = 0;

  private readonly parts: ConnectionParts;
  private readonly parse: (piece: Buffer) => void;
  /** Bytes that wait for the parser. */
  private held: Buffer | undefined = undefined;
  /** How many requests were parsed since nothing waited. */
  private begun = 0;
  private isFeeding = false;
  /** Whether more has arrived than what the parser has now. */
  private isPiece = false;
  private isResting = false;
  /** The bytes that are arriving, when they were last counted. */
  countedBytes = 0;
  private wasArriving = false;
  /** The last request that the parser began. */
  private message: Pick<IncomingMessage, 'complete'> | undefined = undefined;
  private isBodyWanted = false;
  /** The bytes that the body of `message` still lacks; undefined if it is chunked. */
  private bodyLeft: number | undefined = undefined;
  /** Whether the parser has a part of a head. */
  private isInHead = false;
  /** What the parser got last of a head or a chunked body: up to 3 bytes, before an EMPTY_LINE. */
  private tail = '';
  /** Set when it is stopped. */
  private onDiscarded: ((bytes: number) => void) | undefined = undefined;

  constructor(socket: Socket, parts: ConnectionParts) {
    const { remoteAddress = '' } = socket;
    const address = parseAddress(remoteAddress);
    this.socket = socket;
    this.parts = parts;
    this.block = addressBlock(remoteAddress);
    this.site = addressSite(remoteAddress);
    this.isProxy = address !== undefined && parts.isTrusted(address);
    // The listener of node:http's parser. Any other one for `data` detaches the parser.
    const [parse] = socket.listeners('data');
    this.parse = parse as (piece: Buffer) => void;
    socket.off('data', this.parse);
    socket.on('data', (bytes: Buffer) => this.received(bytes));
  }

  /** How many bytes wait for the parser or are kept of a body that is not complete. */
  get arrivingBytes(): number {
    const isComplete = this.message?.complete !== false;
    // A part keeps all that was read with it in memory.
    return (this.held?.buffer.byteLength ?? 0) + (isComplete ? 0 : (this.body?.length ?? 0));
  }

  /** Whether the parser has a part of a chunked body. */
  private get isInChunks(): boolean {
    return this.message?.complete === false && this.bodyLeft === undefined;
  }

  /** Whether a body is arriving, or what arrived waits. */
  get isArriving(): boolean {
    return this.held !== undefined || this.message?.complete === false;
  }

  /** Whether it has sent nothing that was parsed as a request. */
  get isUnused(): boolean {
    return this.message === undefined;
  }

  /** Whether nothing that arrives reaches the parser any more. */
  get isStopped(): boolean {
    return this.onDiscarded !== undefined;
  }

  /** Whether the next response is the last one, because too many requests arrived together. */
  get isOverrun(): boolean {
    const isLeft = this.held !== undefined || this.isPiece;
    return isLeft && this.begun >= TOGETHER && !this.isSigned;
  }

  /** Notes that a part of a response was written. */
  wrote(): void {
    if (this.socket.writableLength > 0) this.parts.unread(this);
  }

  /** Serves a request that node:http has parsed the head of. */
  begin(exchange: Exchange): void {
    const { incoming, outgoing } = exchange;
    const length = incoming.headers['content-length'];
    this.message = incoming;
    this.isInHead = false;
    this.bodyLeft = length === undefined ? undefined : Number(length);
    this.isBodyWanted = false;
    this.serving = outgoing;
    this.begun += 1;
    const end = this.parts.serve(this, exchange);
    outgoing.once('close', () => this.served(end));
  }

  /** Lets the body of the request that is served reach the parser; `body` is what is kept of it. */
  readBody(body: ArrivingBody | undefined): void {
    this.body = body;
    this.isBodyWanted = true;
    if (this.isFeeding) return;
    this.goOn();
    this.countArriving();
  }

  /** Reads nothing more, until `wake`. */
  rest(): void {
    this.isResting = true;
    this.socket.pause();
  }

  wake(): void {
    this.isResting = false;
    if (this.held === undefined) this.socket.resume();
  }

  /** Nothing that arrives reaches the parser any more. Frees what waits. */
  stop(onDiscarded: (bytes: number) => void = () => {}): void {
    this.onDiscarded = onDiscarded;
    onDiscarded(this.held?.length ?? 0);
    this.held = undefined;
    this.socket.resume();
  }

  /**
   * Stops, and resolves when the client has had time to read a response that was sent before it
   * had sent all of its request: closing at once could destroy the response on its way.
   */
  discardRest(): Promise<void> {
    const isWhole = !this.isArriving;
    let left = DISCARDED_BYTES;
    return new Promise((resolve) => {
      setTimeout(resolve, DISCARDED_MS).unref();
      this.socket.once('close', () => resolve());
      this.stop((bytes) => {
        left -= bytes;
        if (left < 0) resolve();
      });
      if (isWhole) resolve();
    });
  }

  private received(bytes: Buffer): void {
    this.activeAt = performance.now();
    if (this.held === undefined) this.begun = 0;
    if (this.onDiscarded !== undefined) this.onDiscarded(bytes.length);
    else if (this.held !== undefined) {
      this.held = Buffer.concat([this.held, bytes]);
      this.socket.pause();
    } else if (this.isSigned || this.parts.mayRun(this.owner)) this.feed(bytes);
    else {
      this.held = bytes;
      this.countArriving();
      this.goOnLater();
    }
  }

  private feed(bytes: Buffer): void {
    this.isFeeding = true;
    let at = 0;
    while (at < bytes.length && this.onDiscarded === undefined) {
      // Who reads the body sees its chunks only when this is over, and may have seen enough.
      const isPausing = this.isInChunks && at >= CHUNKS_AT_ONCE;
      if (isPausing || !this.mayParse()) {
        this.held = bytes.subarray(at);
        this.socket.pause();
        if (isPausing) this.goOnLater();
        break;
      }
      at = this.feedPiece(bytes, at);
    }
    this.isFeeding = false;
    this.isPiece = false;
    this.countArriving();
  }

  private countArriving(): void {
    if (this.isArriving || this.wasArriving) this.parts.arriving(this);
    this.wasArriving = this.isArriving;
  }

  /** Returns where the next piece begins. */
  private feedPiece(bytes: Buffer, from: number): number {
    const { message } = this;
    const isInBody = message !== undefined && !message.complete;
    const at = isInBody || this.isInHead ? from : skipLineBreaks(bytes, from);
    const end =
      isInBody && this.bodyLeft !== undefined
        ? Math.min(bytes.length, at + this.bodyLeft)
        : this.endOfLines(bytes, at, isInBody ? CHUNKED_PIECE : HEAD_PIECE);
    if (at === end) return end;
    this.parsedBytes += end - at;
    if (!isInBody) this.isInHead = true;
    else if (this.bodyLeft !== undefined) this.bodyLeft -= end - at;
    this.isPiece = end < bytes.length;
    this.parse(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    if (this.isInChunks) this.body?.checkChunks();
    return end;
  }

  /** No piece goes beyond an empty line, behind which a body or another request begins. */
  private endOfLines(bytes: Buffer, from: number, most: number): number {
    const { tail } = this;
    this.tail = '';
    // Most heads come whole, and this is not looked for.
    const across =
      tail === '' ? -1 : (tail + bytes.toString('latin1', from, from + 3)).indexOf(EMPTY_LINE);
    if (across !== -1) return from + across + EMPTY_LINE.length - tail.length;
    const piece = bytes.subarray(from, from + most);
    const found = piece.indexOf(EMPTY_LINE, 0, 'latin1');
    if (found !== -1) return from + found + EMPTY_LINE.length;
    // A short chunk is not cut in two, so that it counts as one.
    const lastLine = this.isInChunks ? piece.lastIndexOf(LINE_END, undefined, 'latin1') : -1;
    const length = lastLine === -1 ? piece.length : lastLine + LINE_END.length;
    this.tail = (tail + piece.toString('latin1', Math.max(0, length - 3), length)).slice(-3);
    return from + length;
  }

  /** Whether the parser may have more now. */
  private mayParse(): boolean {
    // node:http must not be fed while it waits for the socket to drain.
    if (this.socket.writableNeedDrain) return false;
    if (this.message?.complete === false) return this.isBodyWanted;
    return this.serving === undefined;
  }

  private served(end: () => void): void {
    end();
    this.serving = undefined;
    this.body = undefined;
    // Its headers would stay in memory while the connection is idle.
    if (this.message?.complete === true) this.message = { complete: true };
    this.activeAt = performance.now();
    if (this.held !== undefined) this.goOnLater();
  }

  /** Not at once: requests of others have come meanwhile. */
  private goOnLater(): void {
    this.parts.later(this.owner, this.block, () => this.goOn());
  }

  private goOn(): void {
    const { held } = this;
    if (held === undefined || !this.mayParse()) return;
    this.held = undefined;
    this.feed(held);
    if (this.held === undefined && !this.isResting) this.socket.resume();
  }
}

/** node:http ignores them before a request (RFC 9112, section 2.2), but each piece costs CPU. */
function skipLineBreaks(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 13 || bytes[at] === 10) at += 1;
  return at;
}
