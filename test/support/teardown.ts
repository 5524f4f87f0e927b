// After the tests: stops the servers that were started for them (jest's globalTeardown).

/** Resolves once they are gone. */
export default async function stop(): Promise<void> {
  await Promise.all(globalThis.testServers.splice(0).map((server) => server.stop()));
}
