// Sees to it that a connection on its way from the primary to a worker is not lost when the worker dies.
import type { Worker } from 'node:cluster';

/** The part of node:cluster's messages that counts here: the primary offers a connection, the worker says whether it took it. */
type Message = { act?: string; seq?: number; ack?: number };

/**
 * The primary accepts connections and offers each to one worker. Node forgets the one that a worker was offered and died before it took, and its
 * client waits for ever: seen at each SIGKILL under a load of new connections. Here the dead worker declines, so that Node offers the connection to
 * another; nothing of it was read yet. Where `othersListen` is false, the connection is closed. Should Node change its messages, all is as before.
 */
export function declineWhenDead(worker: Worker, othersListen: () => boolean): void {
  const child = worker.process;
  const offered = new Set<number>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  // Cast: what it takes and gives is what send does.
  child.send = ((message: Message, ...rest: unknown[]) => {
    if (message.act === 'newconn' && message.seq !== undefined) offered.add(message.seq);
    return send(message, ...rest);
  }) as typeof child.send;
  child.on('internalMessage', ({ ack }: Message) => ack !== undefined && offered.delete(ack));
  worker.once('exit', () => {
    // Node closes its own end of a connection that a worker took.
    for (const ack of offered)
      child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: !othersListen() });
  });
}
