// Finds a Python with graphql-core for tests; setup.e2e.ts installs Debian's if there is none.
import { run } from './process.ts';

const PYTHONS = ['python3', '/usr/bin/python3'];

/** A command that runs such a Python, or undefined if there is none. */
export async function findPython(): Promise<string | undefined> {
  for (const python of PYTHONS) {
    const found = await run(python, ['-c', 'import graphql']).then(
      () => true,
      () => false,
    );
    if (found) return python;
  }
  return undefined;
}
