// How much memory a parsed document takes, for the caches that keep one.
import { type DocumentNode, Kind, type Location, visit } from 'graphql';

// Measured (test/memory). A list that is not empty has room for 17 items in V8.
const BYTES_PER_NODE = 128;
const BYTES_PER_LIST = 192;

/** The bytes of a document without locations, and without its text. */
export function bytesOfDocument(document: DocumentNode): number {
  let bytes = 0;
  visit(document, {
    enter: (node) => {
      bytes += BYTES_PER_NODE;
      for (const value of Object.values(node))
        if (Array.isArray(value) && value.length > 0) bytes += BYTES_PER_LIST;
    },
  });
  return bytes;
}

/**
 * Takes away the locations of a document's nodes, in place. They hold the list of its tokens, which
 * is twice as large as all the rest. Variables keep theirs, without tokens, because errors about
 * their values name them.
 */
export function forgetLocations(document: DocumentNode): void {
  visit(document, {
    enter: (node) => {
      // Cast: graphql-js leaves locations out if it is told to, but never takes them away.
      const located = node as { loc?: Pick<Location, 'start' | 'end' | 'source'> | undefined };
      const { loc } = located;
      located.loc =
        loc && node.kind === Kind.VARIABLE_DEFINITION
          ? { start: loc.start, end: loc.end, source: loc.source }
          : undefined;
    },
  });
}
