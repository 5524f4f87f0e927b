#!/usr/bin/env node
// Starts the operator's command.
import { join } from 'node:path';
import { runProgram } from '@partner-loyalty/runtime/program';

await runProgram(join(import.meta.dirname, 'loyalty.ts'));
