// What each caller may take of a process: requests in progress, turns, and memory for responses.
import { ApiError } from '../errors.ts';
import { createPlaces } from '../eventloop/places.ts';
import { createTurns, type Step } from '../eventloop/turns.ts';
import { Memory } from './memory.ts';

/** Requests whose body is complete and whose response is not taken, in a process. */
const MAX_IN_PROGRESS = 2_000;
/** The maximum of one owner, even if there is no other. */
const MAX_IN_PROGRESS_OF_ONE = MAX_IN_PROGRESS / 4;

/** Requests that take much memory until their response is made, up to some 30 MB each. */
const MAX_LARGE = 8;
const MAX_LARGE_OF_ONE = 2;

/** Requests without a valid credential are one owner, whose share client sites divide. */
const NOBODY = '';
/**
 * People who are signed in with a browser are one owner too, divided in the same way: a partner can
 * make as many people as it likes.
 */
export const PEOPLE = '@';
/** A gateway, whose requests are signed. It has no share: others' requests stand behind its own. */
export const SIGNER = '*';

/** What the owner of a member's requests begins with that no partner holds. */
export const MEMBER = 'member ';

const isDivided = (owner: string) => owner === NOBODY || owner === PEOPLE;

export type Shares = ReturnType<typeof createShares>;
/** A request in progress. */
export type InProgress = ReturnType<Shares['begin']>;

/** `refused` is called for each request that is refused because others are in progress. */
export function createShares(refused: () => void) {
  type Owner = {
    id: string;
    inProgress: number;
    /** Requests that nothing was done for yet, in the order of their arrival. */
    notBegun: Set<Request>;
    /** For NOBODY and PEOPLE, how many requests each site has in progress. */
    parts: Map<string, number>;
  };
  const turns = createTurns();
  const large = createPlaces({ places: MAX_LARGE, ofOwner: MAX_LARGE_OF_ONE });
  // Apart, so that a request that waits for its response never holds up those it waits for.
  const bodies = new Memory();
  const responses = new Memory();
  const owners = new Map<string, Owner>();
  let inProgress = 0;

  /** Makes room for a request; false if there is none for this owner, or for this part of it. */
  function makeRoom(owner: Owner, part: string): boolean {
    const { id, inProgress: own, parts } = owner;
    if (id === SIGNER) return true;
    if (own >= MAX_IN_PROGRESS_OF_ONE) {
      const ofPart = parts.get(part) ?? 0;
      const sharing = parts.size + (ofPart === 0 ? 1 : 0);
      if (!isDivided(id) || (ofPart + 1) * sharing > MAX_IN_PROGRESS_OF_ONE) return false;
      newestNotBegun(owner)?.displace();
    }
    if (inProgress < MAX_IN_PROGRESS) return true;
    if (own >= MAX_IN_PROGRESS / owners.size) return false;
    const waiting = [...owners.values()].filter(({ notBegun }) => notBegun.size > 0);
    const [most] = waiting.sort((one, other) => other.inProgress - one.inProgress);
    if (most !== undefined) newestNotBegun(most)?.displace();
    return true;
  }

  /** The newest request of the part with most in progress, if that is more than an equal share. */
  function newestNotBegun({ inProgress: own, notBegun, parts }: Owner): Request | undefined {
    let newest: Request | undefined;
    let most = parts.size === 0 ? 0 : own / parts.size;
    for (const request of notBegun) {
      const ofPart = parts.get(request.part) ?? 0;
      if (ofPart >= most) [newest, most] = [request, ofPart];
    }
    return newest;
  }

  class Request implements Step {
    readonly owner: string;
    private readonly caller: Owner;
    readonly part: string;
    private hasBegun = false;
    private isAbandoned = false;
    private isLarge = false;
    private hasEnded = false;
    private free: (() => void) | undefined = undefined;
    private waits: { resolve(): void; reject(error: Error): void } | undefined = undefined;
    private waiting: Promise<void> = Promise.resolve();

    constructor(owner: Owner, part: string) {
      this.owner = owner.id;
      this.caller = owner;
      this.part = part;
      owner.inProgress += 1;
      inProgress += 1;
      if (isDivided(owner.id)) owner.parts.set(part, (owner.parts.get(part) ?? 0) + 1);
    }

    /** Waits for memory for about so many bytes, which the parsed body takes, and for a turn. */
    start(bytes: number): Promise<void> | undefined {
      const { caller } = this;
      if (bytes === 0 || caller.id === SIGNER || bodies.reserve(this, bytes)) return this.turn();
      caller.notBegun.add(this);
      return this.wait().then(() => this.turn());
    }

    /**
     * Waits for the owner's turn of the event loop; undefined if it is now. Rejects with
     * SERVICE_UNAVAILABLE if another owner's request takes the place of this one before its first
     * turn, or if the connection closes. With `isLarge`, waits first for one of the places of
     * requests that take much memory, and has it until the response is made.
     */
    turn(isLarge = false): Promise<void> | undefined {
      const { caller } = this;
      if (isLarge && !this.isLarge && !this.hasEnded && caller.id !== SIGNER) return this.grow();
      // What was given up at its deadline may still wait.
      if (this.waits !== undefined) return this.waiting.then(() => this.turn());
      if (caller.id === SIGNER || turns.mayRun(caller.id)) {
        this.hasBegun = true;
        return undefined;
      }
      if (!this.hasBegun) caller.notBegun.add(this);
      turns.add(caller.id, this.part, this);
      return this.wait();
    }

    private async grow(): Promise<void> {
      this.isLarge = true;
      // Anybody can become several members.
      const owner = this.owner.startsWith(MEMBER) ? MEMBER : this.owner;
      this.free = await large({ owner, part: `${this.owner}\n${this.part}` });
      if (this.hasEnded) this.shrink();
      await this.turn();
    }

    run(): void {
      this.hasBegun = true;
      this.granted();
    }

    /**
     * Takes memory for a response of about so many bytes; waits while the owner has its share. It
     * is free again at the end. Throws SERVICE_UNAVAILABLE after it.
     */
    reserve(bytes: number): Promise<void> | undefined {
      if (this.isAbandoned) throw new ApiError('SERVICE_UNAVAILABLE');
      if (this.caller.id !== SIGNER && !responses.reserve(this, bytes)) return this.wait();
      return undefined;
    }

    granted(): void {
      const { waits } = this;
      this.waits = undefined;
      this.caller.notBegun.delete(this);
      waits?.resolve();
    }

    /** The response has this many bytes, instead of those that were reserved, and the body none. */
    takes(bytes: number): void {
      this.shrink();
      if (this.isAbandoned) return;
      bodies.leave(this);
      responses.takes(this, bytes);
    }

    private shrink(): void {
      this.free?.();
      this.free = undefined;
    }

    /** Another owner's request takes its place. */
    displace(): void {
      refused();
      this.giveUp();
    }

    private giveUp(): void {
      const { caller, waits } = this;
      if (waits === undefined) return;
      this.waits = undefined;
      turns.remove(caller.id, this.part, this);
      caller.notBegun.delete(this);
      waits.reject(new ApiError('SERVICE_UNAVAILABLE'));
    }

    /** The client is gone. What the request waits for is given up, but it keeps its place. */
    abandon(): void {
      if (this.isAbandoned) return;
      this.giveUp();
      bodies.leave(this);
      responses.leave(this);
      this.isAbandoned = true;
    }

    /** The response was taken or cannot be sent. */
    end(): void {
      const { caller } = this;
      this.hasEnded = true;
      this.abandon();
      this.shrink();
      inProgress -= 1;
      caller.inProgress -= 1;
      const ofPart = (caller.parts.get(this.part) ?? 0) - 1;
      if (ofPart > 0) caller.parts.set(this.part, ofPart);
      else caller.parts.delete(this.part);
      if (caller.inProgress === 0) owners.delete(caller.id);
    }

    private wait(): Promise<void> {
      this.waiting = new Promise((resolve, reject) => {
        this.waits = { resolve, reject };
      });
      return this.waiting;
    }
  }

  /**
   * Begins a request whose body is complete. `id` is undefined without a valid credential; then,
   * and for PEOPLE, the `part` is the client's site. Throws SERVICE_UNAVAILABLE if the owner has
   * its share of requests in progress, or the part its own part of that share.
   */
  function begin(id: string | undefined = NOBODY, part: string): Request {
    const none = { id, inProgress: 0, notBegun: new Set<Request>(), parts: new Map() };
    const owner = owners.get(id) ?? none;
    if (!makeRoom(owner, part)) {
      refused();
      throw new ApiError('SERVICE_UNAVAILABLE');
    }
    owners.set(id, owner);
    return new Request(owner, part);
  }

  return {
    begin,
    /** Whether work of this owner may begin now. */
    mayRun: (owner = NOBODY) => turns.mayRun(owner),
    /** A connection was accepted. */
    accepted: turns.accepted,
    /** Runs a step when it is the turn of whoever sent what it is about. */
    later: (owner: string | undefined, address: string, run: () => void) =>
      turns.add(owner ?? NOBODY, owner ? '' : address, { run }),
    /** Whether requests of this owner wait for memory. */
    isStarved: (owner = NOBODY) => responses.isStarved(owner),
    /** The owner whose responses are to be closed first; undefined while all have room. */
    overfull: () => responses.overfull(),
  };
}
