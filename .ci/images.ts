// Builds each target of the Dockerfile in a plain folder and runs docker-compose.yml's sandbox from
// there. This finds files and packages that an image lacks, without a container engine. It uses the
// ports that docker-compose.yml publishes.
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { freshMongodbUrl, redisUrl } from '../test/support/servers/databases.ts';
import { run, type ServerProcess, startProcess } from '../test/support/servers/process.ts';
import { provide } from '../test/support/setup/needs.ts';
import stopServers from '../test/support/setup/teardown.ts';

type Service = {
  build: { target: string };
  environment: Record<string, string>;
  healthcheck: { test: string[] };
};
type Image = { folder: string; start: string[] };
type Instruction = { name: string; words: string[] };

const ROOT = join(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'images-'));
chmodSync(work, 0o755);
const { services }: { services: Record<string, Service> } = parse(
  readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'),
  { merge: true },
);
const images = new Map<string, Promise<Image>>();
const running: ServerProcess[] = [];

await provide('servers');
const database = freshMongodbUrl();
try {
  for (const name of ['members', 'standings', 'gateway']) await up(name);
  await loyalty('partners', 'create', 'acme', '--name', 'Acme');
  const { key }: { key: string } = JSON.parse(await loyalty('keys', 'create', 'acme', '--json'));
  const answer = await fetch('http://127.0.0.1:4000/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-partner-api-key': key },
    body: JSON.stringify({
      query:
        'mutation { enrollMember(input: { email: "a@example.com" }) { created member { email tier points } } }',
    }),
  });
  assert.deepEqual(await answer.json(), {
    data: {
      enrollMember: {
        created: true,
        member: { email: 'a@example.com', tier: 'MEMBER', points: 0 },
      },
    },
  });
  const guide = await fetch('http://127.0.0.1:4000/docs/guides/check-in.md');
  assert.match(await guide.text(), /^# /);
  // The gateway hands it over to members, which loads the provider then.
  const signIn = await fetch('http://127.0.0.1:4000/sign-in');
  assert.match(await signIn.text(), /name="email"/);
  console.log('the sandbox of docker-compose.yml answers');
} finally {
  for (const server of running.reverse()) await server.stop();
  await database.drop();
  await stopServers();
  rmSync(work, { recursive: true, force: true });
}

/** Starts a service as compose does, and waits until its health check passes. */
async function up(name: string): Promise<void> {
  const [command, ...args] = await asInImage(name, []);
  const server = await startProcess({ command, args, signal: 'TERM' });
  running.push(server);
  const [, check = '', ...checkArgs] = service(name).healthcheck.test;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run(check, checkArgs);
      console.log(`${name} is healthy`);
      return;
    } catch (error) {
      if (attempt === 40)
        throw new Error(`${name} is not healthy: ${server.output()}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

function service(name: string): Service {
  return services[name] ?? assert.fail(`docker-compose.yml has no service ${name}`);
}

async function loyalty(...args: string[]): Promise<string> {
  const [command, ...all] = await asInImage('loyalty', args);
  return run(command, all);
}

/**
 * The command of a service, with `more` arguments. It runs in the image's folder, with only the
 * service's variables, and as a user who cannot write there.
 */
async function asInImage(name: string, more: string[]): Promise<[string, ...string[]]> {
  const { folder, start } = await image(service(name).build.target);
  const variables = Object.entries(service(name).environment).map(
    ([variable, value]) => `${variable}=${here(value)}`,
  );
  const user =
    process.getuid?.() === 0 ? ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups'] : [];
  return [
    'env',
    '-C',
    folder,
    '-i',
    ...variables,
    ...user,
    process.execPath,
    ...start.slice(1),
    ...more,
  ];
}

/** A value of the compose file, with the names of services replaced by this machine's servers. */
function here(value: string): string {
  if (value.startsWith('mongodb:')) return database.url;
  if (value.startsWith('redis:')) return redisUrl();
  return value
    .replace(/\$\{SUBGRAPH_SECRET:.*\}/, 'a secret for this run alone')
    .replace(/\$\{\w+:-(.*)\}/, '$1')
    .replace(/\/\/(members|standings|mailpit):/, '//127.0.0.1:');
}

function image(target: string): Promise<Image> {
  const made = images.get(target) ?? build(target);
  images.set(target, made);
  return made;
}

async function build(target: string): Promise<Image> {
  const folder = join(work, target);
  mkdirSync(folder);
  let start: string[] = [];
  for (const { name, words } of [...stage('base'), ...stage(target)]) {
    if (name === 'COPY') copy(words, folder);
    else if (name === 'RUN') await run('env', ['-C', folder, 'NODE_ENV=production', ...words]);
    else if (name === 'CMD' || name === 'ENTRYPOINT') start = JSON.parse(words.join(' '));
  }
  return { folder, start };
}

function stage(name: string): Instruction[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').replace(/\\\n +/g, '');
  const stages = text.split(/^FROM /m);
  const [head, ...lines] =
    stages.find((text) => text.split('\n', 1)[0]?.endsWith(` AS ${name}`))?.split('\n') ?? [];
  assert(head, `the Dockerfile has no target ${name}`);
  return lines.flatMap((line) => {
    const [instruction = '', ...words] = line.split(' ');
    return /^[A-Z]+$/.test(instruction) ? [{ name: instruction, words }] : [];
  });
}

// As docker does: a folder's contents replace the target, and files go into a target that ends with
// a slash. The filter is the part of .dockerignore that concerns these folders.
function copy(words: string[], folder: string): void {
  const target = join(folder, words.at(-1) ?? '');
  for (const source of words.slice(0, -1)) {
    const to =
      /\/$/.test(target) || words.at(-1) === './' ? join(target, basename(source)) : target;
    cpSync(join(ROOT, source), to, {
      recursive: true,
      filter: (path) => !/(^|\/)(node_modules|test)$|\.test\.ts$/.test(path),
    });
  }
}
