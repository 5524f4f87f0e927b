// Runs the program that the command line names.
//
// node runtime/run.js PROGRAM.ts [ARGUMENT...]
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runProgram } from './program.js';

// Once most objects of an allocation site have survived, V8 allocates them in the old generation.
// A load that begins while the process starts has that effect on the arrays of a tick: from then on
// each keeps what it refers to until the next full collection. A scavenge then takes 14 ms instead
// of 1.5, and a sixth of all time.
setFlagsFromString('--no-allocation-site-pretenuring');

const [node = '', , program = '', ...args] = process.argv;
const path = resolve(program);
process.argv = [node, path, ...args];
await runProgram(path);
