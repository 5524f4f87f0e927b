// Makes the index of the search, in a thread of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { yieldToMain } from '@partner-loyalty/runtime/process/thread.ts';
import { indexOf } from './search.ts';

yieldToMain();
parentPort?.postMessage(indexOf(workerData));
