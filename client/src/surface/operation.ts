// The types of the methods, and of what they resolve with by what is selected.

/** The options of every method and of `request`. */
export type CallOptions = {
  /** Ends the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** For each attempt, until the last byte of its response. */
  timeoutMs?: number | undefined;
  /** For all attempts and the waits between them. */
  deadlineMs?: number | undefined;
  /** How often to try again. */
  maxRetries?: number | undefined;
  /** 1 to 128 characters of `[A-Za-z0-9._-]`; a random one by default. All attempts have it. */
  requestId?: string | undefined;
};

/** Without `select`, a method selects every field that takes no arguments, to any depth. */
export type Operation<Variables, Result, Selection, Default> = {
  (variables: Variables, options?: CallOptions): Promise<Selected<Result, Default>>;
  <const S extends Selection>(
    variables: Variables,
    options: CallOptions & { select: S & OnlyOf<S, Selection> },
  ): Promise<Selected<Result, S>>;
};

/** The part of a result that a selection names. */
export type Selected<Result, S> = Result extends null
  ? null
  : Result extends readonly (infer Item)[]
    ? Selected<Item, S>[]
    : {
        -readonly [Name in keyof S & keyof Result]: S[Name] extends true
          ? Result[Name]
          : Selected<Result[Name], S[Name]>;
      };

/** Refuses fields that a selection cannot have: a mere type parameter would allow them. */
export type OnlyOf<S, Selection> = {
  [Name in keyof S]: Name extends keyof Selection
    ? S[Name] extends object
      ? OnlyOf<S[Name], NonNullable<Selection[Name]>>
      : S[Name]
    : never;
};
