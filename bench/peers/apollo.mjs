// Stock Apollo: @apollo/gateway behind @apollo/server's standalone server, with default options.
// Run as: node apollo.mjs '{"port":…,"supergraph":"FILE"}'
import { readFileSync } from 'node:fs';
import { ApolloGateway } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';

const { port, supergraph } = JSON.parse(process.argv[2]);
const gateway = new ApolloGateway({ supergraphSdl: readFileSync(supergraph, 'utf8') });
const server = new ApolloServer({ gateway });
await startStandaloneServer(server, { listen: { port, host: '127.0.0.1' } });
