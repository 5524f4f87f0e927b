// Runs the program that the command line names.
//
// node runtime/run.js PROGRAM.ts [ARGUMENT...]
import { resolve } from 'node:path';
import { runProgram } from './program.js';

const [node = '', , program = '', ...args] = process.argv;
const path = resolve(program);
process.argv = [node, path, ...args];
await runProgram(path);
