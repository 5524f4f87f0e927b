// Rescues connections that the primary has offered to a worker that dies before it takes them.
import type { Worker } from 'node:cluster';

/** The relevant part of node:cluster's messages: an offered connection, and the worker's answer. */
type Message = { act?: string; seq?: number; ack?: number };

/**
 * The primary accepts connections and offers each to one worker. If the worker dies before it takes
 * one, Node forgets the connection, and its client waits forever. Here the dead worker declines,
 * so that Node offers the connection to another worker; no data has been read from it yet. If
 * `othersListen` returns false, the connection is closed.
 *
 * If Node ever changes these messages, this has no effect (docs/decisions/0014).
 */
export function declineWhenDead(worker: Worker, othersListen: () => boolean): void {
  const child = worker.process;
  const offered = new Set<number>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  // Cast: the wrapper takes and returns what `send` does.
  child.send = ((message: Message, ...rest: unknown[]) => {
    if (message.act === 'newconn' && message.seq !== undefined) offered.add(message.seq);
    return send(message, ...rest);
  }) as typeof child.send;
  child.on('internalMessage', ({ ack }: Message) => ack !== undefined && offered.delete(ack));
  worker.once('exit', () => {
    // Node closes its own end of a connection that a worker has accepted.
    for (const ack of offered)
      child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: !othersListen() });
  });
}
