// Signed requests to a subgraph, as this project's gateway sends them, from a process of its own.
// Run as: node --import tsx signed.ts '{"url":"…","secret":"…","members":…,"batch":…,"seconds":…,"connections":…}'
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createSigner, encodeRequests, type SubgraphRequest, WIRE } from '@partner-loyalty/runtime';
import { placed } from '../machine.ts';
import { emailOf, PARTNER } from '../population.ts';
import { type Driven, drive } from './raw.ts';

/** `batch` is how many operations travel in one request. */
export type SignedLoad = {
  url: string;
  secret: string;
  members: number;
  batch: number;
  seconds: number;
  connections: number;
};

/** What the query planner asks the members subgraph for a look-up. */
export const MEMBER_QUERY =
  'query($email:String!){memberByEmail(email:$email){__typename memberId email firstName lastName}}';

const READY_CHARACTERS = 500_000_000;
const READY_MS_PER_SECOND = 1_000;

/** Runs the generator on the core of the load to its end. */
export async function sendSigned(load: SignedLoad): Promise<Driven> {
  const run = placed('load', process.execPath, [
    '--import',
    'tsx',
    import.meta.filename,
    JSON.stringify(load),
  ]);
  const { stdout } = await promisify(execFile)(run.command, run.args);
  return JSON.parse(stdout);
}

/** The texts of signed requests about random members. */
export function signedTexts({
  url,
  secret,
  members,
  batch,
}: Pick<SignedLoad, 'url' | 'secret' | 'members' | 'batch'>): () => string {
  const sign = createSigner(secret);
  const scope = { kind: 'partner', partnerId: PARTNER } as const;
  const { host } = new URL(url);
  const operation = (): SubgraphRequest => {
    const email = emailOf(Math.floor(Math.random() * members));
    return { query: MEMBER_QUERY, variables: { email }, scope, requestId: 'bench' };
  };
  return () => {
    const [group] = encodeRequests(Array.from({ length: batch }, operation));
    const { scopes = '', body = '' } = group ?? {};
    const signature = sign({ method: 'POST', path: WIRE.path, scopes, body });
    const headers = {
      host,
      'content-type': 'application/json',
      'content-length': `${body.length}`,
      ...signature,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `POST ${WIRE.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
  };
}

if (process.argv[1] === import.meta.filename) {
  // Cast: sendSigned() above writes it.
  const load = JSON.parse(process.argv[2] ?? '') as SignedLoad;
  const make = signedTexts(load);
  // Signing costs about as much as the subgraph itself, so it is done ahead, as far as memory and the signatures' 30 seconds allow.
  const ready: string[] = [];
  const startedAt = performance.now();
  for (
    let characters = 0;
    characters < READY_CHARACTERS &&
    performance.now() - startedAt < load.seconds * READY_MS_PER_SECOND;
    characters += ready.at(-1)?.length ?? 0
  ) {
    ready.push(make());
  }
  console.log(JSON.stringify(await drive({ ...load, next: () => ready.pop() ?? make() })));
}
