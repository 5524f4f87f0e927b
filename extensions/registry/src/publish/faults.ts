// Why schemas make no graph, in words for whoever publishes them.

/** Schemas do not compose; each fault begins with the files and lines that it concerns. */
export class CompositionError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** Composing takes more time or memory than there is. */
export class TooLargeError extends Error {}

/** What is published cannot be served, so nothing can be compared with it. */
export class UnservedError extends Error {}
