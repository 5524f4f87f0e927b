// The offers subgraph: stock Apollo Server over node:http, for requests that the gateway signed.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { type Context, resolvers } from './resolvers.ts';
import { createVerifier, type Scope } from './signature.ts';

const { PORT = '4021', HOST = '127.0.0.1', OFFERS_SECRET, OFFERS_SECRET_OLD } = process.env;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

if (!OFFERS_SECRET) throw new Error('set OFFERS_SECRET to the secret shared with the gateway');
const secrets = [OFFERS_SECRET, OFFERS_SECRET_OLD].filter((secret) => secret !== undefined);
const verify = createVerifier('offers', secrets);

/** In a batch, each operation carries its own scope. */
const scopeOfOperation: ApolloServerPlugin<Context> = {
  async requestDidStart({ request, contextValue }) {
    if (contextValue.scope.kind !== 'batch') return;
    // Cast: it is part of the body that the gateway signed.
    contextValue.scope = request.extensions?.scope as Scope;
  },
};

const typeDefs = parse(readFileSync(new URL('schema.graphql', import.meta.url), 'utf8'));
const apollo = new ApolloServer<Context>({
  schema: buildSubgraphSchema([{ typeDefs, resolvers }]),
  plugins: [scopeOfOperation],
  allowBatchedHttpRequests: true,
  introspection: true,
  includeStacktraceInErrorResponses: false,
  stopOnTerminationSignals: false,
});
await apollo.start();

const server = createServer(async (request, response) => {
  const answer = await answerOf(request).catch(() => refusal(400, 'not a GraphQL request'));
  response.writeHead(answer.status, answer.headers).end(answer.body);
});
// Longer than the gateway keeps an unused connection.
server.keepAliveTimeout = 65_000;
server.listen(Number(PORT), HOST, () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : PORT;
  console.log(`The offers subgraph: http://${HOST}:${port}/graphql`);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close());

type Answer = { status: number; headers: Record<string, string>; body: string };

async function answerOf(request: IncomingMessage): Promise<Answer> {
  const { method = '', url: path = '', headers } = request;
  const body = await bodyOf(request);
  const scope = path === '/graphql' ? verify({ method, path, headers, body }) : undefined;
  if (scope === undefined) return refusal(401, 'the request is not signed by the gateway');
  const answer = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: {
      method,
      headers: new HeaderMap(Object.entries(headers).map(([name, value]) => [name, `${value}`])),
      search: '',
      body: JSON.parse(body.toString()),
    },
    context: async () => ({ scope }),
  });
  if (answer.body.kind !== 'complete') throw new Error('the gateway asks for no answer in parts');
  return {
    status: answer.status ?? 200,
    headers: Object.fromEntries(answer.headers),
    body: answer.body.string,
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the body is too large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function refusal(status: number, message: string): Answer {
  const headers = { 'content-type': 'application/json', connection: 'close' };
  return { status, headers, body: JSON.stringify({ errors: [{ message }] }) };
}
