// Signs requests to a subgraph as the gateway does, with a library that others maintain.
import { createHash, randomUUID } from 'node:crypto';
import { createSigner, httpbis } from 'http-message-signatures';

export type SubgraphMessage = {
  /** The URL of the subgraph's /graphql. */
  url: string;
  body: string;
  secret: string;
  /** The value of the header Partner-Loyalty-Scope. */
  caller: string;
  subgraph: string;
  components?: string[];
  created?: Date;
  nonce?: string;
  tag?: string;
};

/** What a signature covers. */
export const COMPONENTS = [
  '@method',
  '@path',
  'content-digest',
  'partner-loyalty-subgraph',
  'partner-loyalty-scope',
  'x-request-id',
];

/** The headers of a signed POST. */
export async function signedHeaders(message: SubgraphMessage): Promise<Record<string, string>> {
  const { url, body, secret, caller, subgraph, components = COMPONENTS } = message;
  const { created = new Date(), nonce = randomUUID(), tag = 'partner-loyalty' } = message;
  const keyId = createHash('sha256').update(secret).digest('hex').slice(0, 16);
  const headers = {
    'content-type': 'application/json',
    'content-digest': `sha-256=:${createHash('sha256').update(body).digest('base64')}:`,
    'partner-loyalty-subgraph': subgraph,
    'partner-loyalty-scope': caller,
    'x-request-id': `test-${nonce}`,
  };
  const signed = await httpbis.signMessage(
    {
      key: createSigner(Buffer.from(secret), 'hmac-sha256', keyId),
      name: 'sig1',
      fields: components,
      params: ['created', 'keyid', 'nonce', 'tag'],
      paramValues: { created, nonce, tag },
    },
    { method: 'POST', url, headers },
  );
  // Cast: every header that went in is a string.
  return signed.headers as Record<string, string>;
}
