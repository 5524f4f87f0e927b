// Writes many documents of counts to MongoDB in one round trip.
import { DUPLICATE_KEY } from '@partner-loyalty/runtime/store/mongo.ts';
import {
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
  MongoBulkWriteError,
} from 'mongodb';

/** Writes in one round trip, and again whatever another process inserted at the same moment. */
export async function writeBulk<T extends Document>(
  collection: Collection<T>,
  writes: readonly AnyBulkWriteOperation<T>[],
): Promise<void> {
  if (writes.length === 0) return;
  try {
    await collection.bulkWrite(writes, { ordered: false });
  } catch (error) {
    const again = error instanceof MongoBulkWriteError ? duplicates(error) : [];
    if (again.length === 0) throw error;
    await collection.bulkWrite(
      again.flatMap((index) => writes[index] ?? []),
      { ordered: false },
    );
  }
}

/** The indexes of the failed writes if all of them failed on duplicate keys; otherwise none. */
function duplicates({ writeErrors }: MongoBulkWriteError): number[] {
  const failed = [writeErrors].flat();
  return failed.every(({ code }) => code === DUPLICATE_KEY) ? failed.map(({ index }) => index) : [];
}
