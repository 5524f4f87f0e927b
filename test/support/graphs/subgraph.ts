// A subgraph that speaks plain GraphQL over HTTP and does not look at signatures.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLSchema, graphql, parse } from 'graphql';

export type PlainSubgraph = {
  url: string;
  /** The scopes and queries that it was sent. */
  asked: string[];
  /** Is done before a response. */
  meanwhile: (() => Promise<void>) | undefined;
  /** Serves another schema; `rootValue` answers its root fields. */
  serve(sdl: string, rootValue?: unknown): void;
  close(): void;
};

export async function startSubgraph(sdl: string, rootValue?: unknown): Promise<PlainSubgraph> {
  let schema: GraphQLSchema;
  let root: unknown;
  const asked: string[] = [];
  const server: Server = createServer(async (request, response) => {
    const { query, variables } = (await json(request)) as {
      query: string;
      variables?: Record<string, unknown>;
    };
    await subgraph.meanwhile?.();
    asked.push(`${request.headers['partner-loyalty-scope']} ${query}`);
    response.setHeader('content-type', 'application/graphql-response+json');
    const answer = await graphql({
      schema,
      source: query,
      rootValue: root,
      variableValues: variables,
    });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const subgraph: PlainSubgraph = {
    url: `http://127.0.0.1:${port}/graphql`,
    asked,
    meanwhile: undefined,
    serve(text, value) {
      schema = buildSubgraphSchema({ typeDefs: parse(text) });
      root = value;
    },
    close: () => server.close(),
  };
  subgraph.serve(sdl, rootValue);
  return subgraph;
}
