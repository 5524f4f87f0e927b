// Hive Gateway with its default options, and with `isRust` the planner and executor in Rust.
// Run as: node gateway.mjs '{"port":…,"supergraph":"FILE","isRust":true}'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { unifiedGraphHandler } from '@graphql-hive/router-runtime';

const { port, supergraph, isRust } = JSON.parse(process.argv[2]);
const gateway = createGatewayRuntime({
  supergraph: readFileSync(supergraph, 'utf8'),
  ...(isRust && { unifiedGraphHandler }),
  logging: false,
});
createServer(gateway).listen(port, '127.0.0.1');
