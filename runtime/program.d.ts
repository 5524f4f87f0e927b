// The types of program.js, which is JavaScript so that every Node can run it.

/** Runs a program, given by its absolute path, in this process or thread. */
export function runProgram(program: string): Promise<void>;

/** The file to import for a TypeScript program, which is built if necessary. */
export function loadable(program: string): Promise<string>;
