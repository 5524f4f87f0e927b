// Sends signed requests to a subgraph, as this project's gateway does, from a process of its own.
import type { SubgraphRequest } from '@partner-loyalty/runtime/subgraph/types.ts';
import { createSigner } from '@partner-loyalty/runtime/transport/signature/signer.ts';
import { encodeBatches, WIRE } from '@partner-loyalty/runtime/transport/wire.ts';
import { emailOf, PARTNER } from '../dataset/population.ts';
import { headerLines } from '../dataset/requests.ts';
import { runGenerator, serveAsGenerator } from './generator.ts';
import { type RawResult, sendRaw } from './raw.ts';

export type SignedLoad = {
  url: string;
  secret: string;
  members: number;
  /** How many operations one request carries. */
  batch: number;
  seconds: number;
  connections: number;
};

/** The operation that the query planner sends to the members subgraph for a look-up. */
export const MEMBER_QUERY =
  'query($email:String!){memberByEmail(email:$email){__typename memberId email firstName lastName}}';

const MAX_PREPARED_CHARACTERS = 500_000_000;

/** Runs this file as a load generator on the cores of the load. */
export function sendSigned(load: SignedLoad): Promise<RawResult> {
  return runGenerator('load', import.meta.filename, load);
}

/** Returns a function that makes raw signed requests about random members. */
export function signedRequests({
  url,
  secret,
  members,
  batch,
}: Pick<SignedLoad, 'url' | 'secret' | 'members' | 'batch'>): () => string {
  const sign = createSigner('members', secret);
  const scope = { kind: 'partner', partnerId: PARTNER } as const;
  const { host } = new URL(url);
  const operation = (): SubgraphRequest => {
    const email = emailOf(Math.floor(Math.random() * members));
    return { query: MEMBER_QUERY, variables: { email }, scope, requestId: 'bench' };
  };
  return () => {
    const [group] = encodeBatches(Array.from({ length: batch }, operation));
    const { scope: scopeText = '', requestId = '', body = '' } = group ?? {};
    const headers = {
      host,
      'content-type': 'application/json',
      accept: 'application/graphql-response+jsonl',
      'content-length': `${body.length}`,
      ...sign({ method: 'POST', path: WIRE.path, scope: scopeText, requestId, body }),
    };
    return `POST ${WIRE.path} HTTP/1.1\r\n${headerLines(headers)}\r\n${body}`;
  };
}

await serveAsGenerator(import.meta.filename, (load: SignedLoad) => {
  const sign = signedRequests(load);
  const prepared = prepare(sign, load.seconds);
  return sendRaw({ ...load, next: () => prepared.pop() ?? sign() });
});

// Signing costs about as much as the subgraph's work, so requests are signed before they are sent:
// as many as fit in memory, in no more seconds than the load lasts, as signatures expire after 30.
function prepare(sign: () => string, seconds: number): string[] {
  const prepared: string[] = [];
  const endsAt = performance.now() + seconds * 1_000;
  for (let characters = 0; characters < MAX_PREPARED_CHARACTERS && performance.now() < endsAt; ) {
    const request = sign();
    prepared.push(request);
    characters += request.length;
  }
  return prepared;
}
