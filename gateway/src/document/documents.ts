// The cache of client documents, by their text.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { bytesOfDocument, forgetLocations } from '@partner-loyalty/runtime/cache/document.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { type ClientDocument, parseDocument } from './document.ts';

export type Documents = ReturnType<typeof createDocuments>;

/**
 * The documents of this process. A document with literals is never cached, because its literals
 * are the caller's data: addresses, names, identifiers.
 */
export function createDocuments(caches: Caches, metrics: Pick<Metrics, 'documentCache'>) {
  const cache = caches.open(weigh);
  return {
    /** The document with this text, from the cache or parsed now. Throws as parseDocument does. */
    read(text: string): ClientDocument {
      const cached = cache.get(text);
      metrics.documentCache(cached === undefined ? 'miss' : 'hit');
      if (cached === undefined) return parseDocument(text);
      cached.uses += 1;
      return cached;
    },
    keep(document: ClientDocument): void {
      const { text, node, containsLiterals } = document;
      if (containsLiterals || cache.peek(text) === document) return;
      forgetLocations(node);
      cache.set(text, document);
    },
    /** The documents in the cache that were used most, of late. Halves what it knows of uses. */
    mostUsed(count: number): ClientDocument[] {
      const documents = [...cache.values()].sort((one, other) => other.uses - one.uses);
      for (const document of documents) document.uses /= 2;
      return documents.slice(0, count);
    },
  };
}

/** Measured (test/memory). */
const BYTES_PER_OPERATION = 4_096;

// Each operation has an executable form as well: its text, its names, and its introspection.
function weigh({ text, node, operations }: ClientDocument): number {
  const bytes = bytesOfDocument(node);
  return bytes + operations.length * (BYTES_PER_OPERATION + bytes + text.length);
}
