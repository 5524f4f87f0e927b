// The subgraphs of the public benchmark in one process, which counts what it is asked.
//
// Answers are kept by the request's body, so that these subgraphs cost little, whoever asks.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse } from 'graphql';
import { PUBLIC_RESOLVERS, PUBLIC_SUBGRAPHS } from '../dataset/public.ts';

type Answer = { body: string; representations: number; repeats: number };

// Cast: startPublic in run/public.ts writes the options.
const { port } = JSON.parse(process.argv[2] ?? '{}') as { port: number };
const NAMES = ['accounts', 'inventory', 'products', 'reviews'] as const;
const schemas = new Map(
  NAMES.map((name) => [
    `/${name}`,
    buildSubgraphSchema({
      typeDefs: parse(PUBLIC_SUBGRAPHS[name]),
      resolvers: PUBLIC_RESOLVERS[name],
    }),
  ]),
);
const known = new Map<string, Promise<Answer>>();
let counts = { requests: 0, representations: 0, repeats: 0 };

async function answer(path: string, body: string): Promise<Answer> {
  const schema = schemas.get(path);
  if (schema === undefined) throw new Error(`there is no subgraph at ${path}`);
  const { query, variables = {}, operationName } = JSON.parse(body);
  const lists = Object.values(variables as object).filter(Array.isArray);
  const all = lists.flat().map((each) => JSON.stringify(each));
  const repeats = all.map((each) => all.filter((other) => other === each).length);
  return {
    body: JSON.stringify(
      await graphql({ schema, source: query, variableValues: variables, operationName }),
    ),
    representations: Math.max(0, ...lists.map(({ length }) => length)),
    repeats: Math.max(0, ...repeats),
  };
}

createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
  const { url: path = '' } = request;
  let body = '';
  if (request.method === 'GET') {
    body = JSON.stringify(counts);
    counts = { requests: 0, representations: 0, repeats: 0 };
  } else {
    const asked = await text(request);
    const key = `${path} ${asked}`;
    const answering = known.get(key) ?? answer(path, asked);
    known.set(key, answering);
    const { representations, repeats, body: found } = await answering;
    counts.requests += 1;
    counts.representations = Math.max(counts.representations, representations);
    counts.repeats = Math.max(counts.repeats, repeats);
    body = found;
  }
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
}).listen(port, '127.0.0.1', () => console.log('listening'));
