// Starts the planner thread's worker.ts, through tsx on a Node that does not run TypeScript.
if (!process.features.typescript) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import('./worker.ts');
