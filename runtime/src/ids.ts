// IDs that nobody else makes.

import { randomBytes } from 'node:crypto';

/** Returns a source of IDs that are unique across processes: a random prefix and a counter. */
export function createIds(): () => string {
  const prefix = randomBytes(9).toString('base64url');
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}
