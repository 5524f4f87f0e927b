#!/usr/bin/env node
// Starts the operator's command: on a Node that runs TypeScript by itself directly, on an older one through tsx.
if (!process.features.typescript) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import('./loyalty.ts');
