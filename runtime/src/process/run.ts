// The path of the launcher, which runs a program in a separate process or thread.
import { join } from 'node:path';

/** To be run with the path of a TypeScript program and its arguments. */
export const RUN = join(import.meta.dirname, '../../run.js');
