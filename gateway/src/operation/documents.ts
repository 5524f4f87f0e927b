// The cache of client documents, by their text.
import type { Metrics } from '@partner-loyalty/runtime';
import { LRUCache } from 'lru-cache';
import { type ClientDocument, parseDocument } from './document.ts';

export type Documents = {
  /** The document with this text, from the cache or parsed now. Throws as parseDocument does. */
  read(text: string): ClientDocument;
  /** Adds a valid document to the cache. */
  keep(document: ClientDocument): void;
};

// Callers choose what is cached, so both the number of entries and their bytes are bounded.
const MAX_ENTRIES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;
// What a parsed document was measured to take for each character of its text.
const BYTES_PER_CHARACTER = 64;

/**
 * The documents of this process. A document with literals is never cached, because its literals
 * are the caller's data: addresses, names, identifiers.
 */
export function createDocuments(metrics: Pick<Metrics, 'documentCache'>): Documents {
  const cache = new LRUCache<string, ClientDocument>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    sizeCalculation: bytesOf,
  });
  return {
    read(text) {
      const cached = cache.get(text);
      metrics.documentCache(cached === undefined ? 'miss' : 'hit');
      return cached ?? parseDocument(text);
    },
    keep(document) {
      const { text, containsLiterals } = document;
      if (!containsLiterals && cache.peek(text) !== document) cache.set(text, document);
    },
  };
}

// Each operation has an executable form as well, which is at most as long as the document.
function bytesOf({ text, operations }: ClientDocument): number {
  return 1_024 + text.length * BYTES_PER_CHARACTER * (1 + operations.length);
}
