// The types of program.js, which every Node has to be able to run.

/** Runs a program, given by its absolute path, in this process or thread. */
export function runProgram(program: string): Promise<void>;

/** The file to import for a TypeScript program, which is built if need be. */
export function loadable(program: string): Promise<string>;
