// A table of chunks of request records, on either engine.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { RequestChunk } from './requests.ts';

/** Chunks that are written at once: with 100 records in each, that takes 10 ms of CPU time. */
export const WRITTEN_CHUNKS = 100;

/** Several processes may write at the same time. Implemented by chunks.{lmdb,mongo}.ts. */
export type ChunkTable = {
  /** Adds them, or replaces those with their IDs. */
  put(chunks: readonly RequestChunk[]): Promise<void>;
  /** Those from `from` on and before `to`, the highest IDs first, at most `limit`. */
  last(from: string, to: string, limit: number): MaybePromise<RequestChunk[]>;
  /** The lowest ID from `from` on. */
  firstId(from: string): MaybePromise<string | undefined>;
  /** Removes those from `from` on and before `to`, in bounded steps. */
  removeBetween(from: string, to: string): Promise<void>;
};

/** Opens a table of a store that is open. */
export type OpenChunkTable = (name: string) => MaybePromise<ChunkTable>;
