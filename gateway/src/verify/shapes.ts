// The shapes that the records of partners and keys have on any engine.
import * as z from 'zod';

const text = z.string().min(1);
/** Milliseconds on LMDB, a date on MongoDB. */
const time = z.union([z.number(), z.date()]);

export const PARTNER = z.looseObject({
  name: text,
  createdAt: time,
  suspendedAt: time.nullish(),
  scopes: z.array(text).nullish(),
  allow: z.array(text).nullish(),
});

export const KEY = z.looseObject({
  keyId: text,
  name: text.nullish(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: time,
  expiresAt: time.nullish(),
  revokedAt: time.nullish(),
  endpoint: text.nullish(),
  scopes: z.array(text).nullish(),
  allow: z.array(text).nullish(),
});

export function checkShape(
  shape: z.ZodType,
  value: unknown,
  report: (problem: string) => void,
): boolean {
  const { error } = shape.safeParse(value);
  for (const { path } of error?.issues ?? [])
    report(path.length === 0 ? 'the record has no fields' : `${path.join('.')} is not valid`);
  return error === undefined;
}
