// Distinguishes the outage of a store from a fault in our code.

/** MongoDB's errors for a server that is unreachable, too slow, or changing its primary. */
const MONGODB_CODES = new Set([
  6, 7, 50, 89, 91, 189, 202, 262, 9001, 10107, 11600, 11602, 13435, 13436,
]);
const MONGODB_CLASSES =
  /^Mongo(Network|ServerSelection|OperationTimeout|Topology|NotConnected|Pool|WaitQueue|ClientClosed|Expired)/;
const SYSTEM_CODES =
  /^(E(CONN\w+|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|NOSPC|FBIG|IO|ROFS|DQUOT|MFILE|NFILE)|UND_ERR_\w+)$/;
/** A disk, quota or file that cannot grow, and LMDB's own code for it. */
const FULL_CODES = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EFBIG', -30_792]);
/** What is wrong with a store that answers: `full` if it has no room to write. */
export type StoreState = 'full' | undefined;

const DEEPEST_CAUSE = 4;
/** Codes and names of classes, which say why; a message may say more than a log may hold. */
const WORD = /^-?\w{1,64}$/;

/**
 * Whether an error means that a store is unreachable, did not respond in time, is damaged, or
 * cannot write to its disk. Looks at names and codes, so that the embedded store does not load
 * MongoDB's driver.
 */
export function isOutage(error: unknown): boolean {
  return outageOf(error) !== undefined;
}

/** What is wrong with the store, if the error is an outage. */
export function outageOf(
  error: unknown,
  depth = 0,
): 'unavailable' | 'full' | 'damaged' | undefined {
  if (typeof error !== 'object' || error === null || depth > DEEPEST_CAUSE) return undefined;
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (name === 'StoreDamaged') return 'damaged';
  if (FULL_CODES.has(code)) return 'full';
  if (typeof name === 'string' && (MONGODB_CLASSES.test(name) || name === 'TimeoutError'))
    return 'unavailable';
  if (typeof code === 'string' && SYSTEM_CODES.test(code)) return 'unavailable';
  // LMDB's codes are negative (lmdb.h), MongoDB's are positive.
  if (typeof code === 'number' && (code < -30_000 || MONGODB_CODES.has(code))) return 'unavailable';
  return outageOf(causeOf(error), depth + 1);
}

/** The code or class of the error that explains an outage, for a log line. */
export function outageReason(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null) return typeof error;
  const cause = causeOf(error);
  if (isOutage(cause) && depth < DEEPEST_CAUSE) return outageReason(cause, depth + 1);
  const { name, code, codeName } = error as Record<'name' | 'code' | 'codeName', unknown>;
  // LMDB's codes are numbers of an Error; MongoDB's have names.
  const words = [typeof code === 'string' ? code : codeName, name === 'Error' ? code : name, name];
  return String(words.find((each) => WORD.test(String(each ?? ''))) ?? 'Error');
}

/** MongoDB's driver keeps what ended a bulk write where the response of the server would be. */
function causeOf(error: object): unknown {
  const { cause, errorResponse } = error as { cause?: unknown; errorResponse?: unknown };
  return cause ?? (errorResponse instanceof Error ? errorResponse : undefined);
}
