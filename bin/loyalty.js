#!/usr/bin/env node
// Starts the command, from its sources in a checkout and as it was packed elsewhere.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const source = join(import.meta.dirname, 'loyalty.ts');
if (existsSync(source)) {
  const { runProgram } = await import('@partner-loyalty/runtime/program');
  await runProgram(source);
} else await import('./dist/programs/bin-loyalty.js');
