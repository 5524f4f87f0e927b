// What threads beside the main one do when they start.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** About a tenth of the CPU time that the main thread gets while both want all of it. */
const PRIORITY = 10;

/**
 * Gives the main thread precedence if both share a core, and returns this thread's ID. On Linux,
 * each thread has its own priority, and this link shows a thread its ID. On other systems, both
 * have the same priority, and there is no ID.
 */
export function yieldToMain(): number | undefined {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, PRIORITY);
    return thread;
  } catch {
    return undefined;
  }
}
