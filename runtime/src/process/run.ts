// Where the launcher is that runs a program in a process or thread of its own.
import { join } from 'node:path';

/** To be run with the path of a TypeScript program and its arguments. */
export const RUN = join(import.meta.dirname, '../../run.js');
