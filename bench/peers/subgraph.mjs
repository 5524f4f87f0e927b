// A stock subgraph in memory: @apollo/subgraph behind @apollo/server's standalone server.
// Run as: node subgraph.mjs '{"port":…,"schema":"FILE"}'
import { readFileSync } from 'node:fs';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';

const { port, schema } = JSON.parse(process.argv[2]);
const typeDefs = parse(readFileSync(schema, 'utf8'));
const resolvers = {
  Query: {
    memberByEmail: (_, { email }) => {
      const number = email.slice('member'.length, email.indexOf('@'));
      return {
        memberId: `m-${number}`,
        email,
        firstName: `First${Number(number)}`,
        lastName: `Last${Number(number)}`,
      };
    },
  },
};
const server = new ApolloServer({ schema: buildSubgraphSchema([{ typeDefs, resolvers }]) });
await startStandaloneServer(server, { listen: { port, host: '127.0.0.1' } });
