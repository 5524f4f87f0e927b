// After the tests of a project that needs servers: stops the servers that setup.ts started.

/** Jest's globalTeardown. */
export default async function teardown(): Promise<void> {
  await Promise.all(globalThis.testServers.splice(0).map((server) => server.stop()));
}
