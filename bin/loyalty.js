#!/usr/bin/env node
// Starts the operator's command, through tsx on a Node that does not run TypeScript.
if (!process.features.typescript) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import('./loyalty.ts');
