// Runs the program that the command line names.
//
// node runtime/run.js PROGRAM.ts [ARGUMENT...]
import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { runProgram } from './program.js';

const [node = '', launcher = '', program = '', ...args] = process.argv;
const path = resolve(program);
// Workers start as this process did. Only a primary has settings.
cluster.setupPrimary?.({ exec: launcher, args: [path, ...args] });
process.argv = [node, path, ...args];
await runProgram(path);
