// Starts the planner thread's worker.ts, through tsx on a Node that does not run TypeScript.

// tsx loads it as CommonJS: its hooks for ES modules would take a thread of their own.
if (process.features.typescript) import('./worker.ts');
else {
  require('tsx/cjs');
  require('./worker.ts');
}
