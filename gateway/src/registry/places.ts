// Places for requests whose bodies may be large: two at a time, one of a token.
import { ApiError } from '@partner-loyalty/runtime/errors.ts';

const MAX_PLACES = 2;

type Waiting = { tokenId: string; grant(): void };

/**
 * Returns a function that waits for a place in the order of arrival, and resolves with a function
 * that gives it back. It rejects with SERVICE_UNAVAILABLE after `waitMs`, or when the client goes
 * away.
 */
export function createPlaces(waitMs: number) {
  const held = new Set<string>();
  const waiting = new Set<Waiting>();

  function grantNext(): void {
    for (const one of waiting) {
      if (held.size >= MAX_PLACES) return;
      if (held.has(one.tokenId)) continue;
      waiting.delete(one);
      held.add(one.tokenId);
      one.grant();
    }
  }

  return (tokenId: string, signal: AbortSignal): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const giveUp = () => {
        end();
        reject(new ApiError('SERVICE_UNAVAILABLE', 'the registry is busy'));
      };
      const timer = setTimeout(giveUp, waitMs);
      const end = () => {
        waiting.delete(one);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const one: Waiting = {
        tokenId,
        grant() {
          end();
          resolve(() => {
            held.delete(tokenId);
            grantNext();
          });
        },
      };
      signal.addEventListener('abort', giveUp);
      waiting.add(one);
      grantNext();
      if (signal.aborted) giveUp();
    });
}
