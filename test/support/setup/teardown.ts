// After the tests: stops the servers that were started for them.

/** Jest's globalTeardown. */
export default async function teardown(): Promise<void> {
  await Promise.all((globalThis.testServers ?? []).splice(0).map((server) => server.stop()));
}
