// Starts the example subgraphs on free ports, each by the command that its users run.
import { join } from 'node:path';
import { run, type ServerCommand, startProcess } from './process.ts';

export const EXAMPLES = join(import.meta.dirname, '../../../examples');

export type ExampleName = 'offers-apollo' | 'offers-python';

export type Example = {
  /** The URL of its /graphql. */
  url: string;
  stop(): Promise<unknown>;
};

const COMMANDS: Record<ExampleName, () => Promise<ServerCommand>> = {
  'offers-apollo': async () => ({
    command: 'npm',
    args: ['start', '--silent', '--prefix', join(EXAMPLES, 'offers-apollo')],
    signal: 'TERM',
  }),
  'offers-python': async () => ({
    command: (await findPython()) ?? 'python3',
    args: [join(EXAMPLES, 'offers-python/server.py')],
  }),
};

/** `env` has its secrets. Rejects with its output if it does not start. */
export async function startExample(
  name: ExampleName,
  env: Record<string, string>,
): Promise<Example> {
  const server = await startProcess({ ...(await COMMANDS[name]()), env: { PORT: '0', ...env } });
  try {
    const [url] = await server.wrote(/http:\S+\/graphql/);
    return { url, stop: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

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
