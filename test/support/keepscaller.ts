// Finds references to a caller, which the stack of an error has.

import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Whether what `act` leaves behind refers to the object whose method called it. */
export async function keepsCaller(act: () => unknown): Promise<boolean> {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const caller = await called(act);
  for (let tries = 0; tries < 20 && caller.deref() !== undefined; tries += 1) {
    await pause(10); // V8 keeps what `deref` returned until then.
    collect();
  }
  return caller.deref() !== undefined;
}

async function called(act: () => unknown): Promise<WeakRef<object>> {
  const caller = {
    call() {
      return act();
    },
  };
  const weak = new WeakRef(caller);
  await caller.call();
  return weak;
}
