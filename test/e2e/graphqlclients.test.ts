// Stock GraphQL clients, unmodified, with what they do by default.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { cacheExchange, createClient, fetchExchange } from '@urql/core';
import {
  buildClientSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  printSchema,
} from 'graphql';
import { GraphQLClient } from 'graphql-request';
import {
  Environment,
  fetchQuery,
  type GraphQLResponse,
  Network,
  RecordSource,
  Store,
} from 'relay-runtime';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

const QUERY = `query Read($email: String!) {
  memberByEmail(email: $email) { id memberId tier points } }`;
const END = `mutation End($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }`;
const variables = { email: 'both@example.com' };
const member = { id: 'm-both', memberId: 'm-both', tier: 'Silver', points: 250 };
const nobody = { memberId: 'm-nobody' };

let service: InProcessService;
let url: string;
let headers: Record<string, string>;
let folder: Folder;
beforeAll(async () => {
  folder = temporaryFolder();
  service = await startInProcess();
  url = `${service.url}/graphql`;
  headers = { 'x-partner-api-key': service.keys.alpha };
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

/** As `fetch`, and notes the method of each request. */
function recorded(methods: (string | undefined)[]): typeof fetch {
  return (input, init) => {
    methods.push(init?.method);
    return fetch(input, init);
  };
}

test('urql, which asks by GET', async () => {
  const methods: (string | undefined)[] = [];
  const exchanges = [cacheExchange, fetchExchange];
  const options = { url, exchanges, fetchOptions: { headers }, fetch: recorded(methods) };
  const client = createClient({ ...options, preferGetMethod: true });
  const read = await client.query(QUERY, variables).toPromise();
  expect([read.error, read.data]).toMatchObject([undefined, { memberByEmail: member }]);
  const ended = await client.mutation(END, nobody).toPromise();
  expect(ended.error?.graphQLErrors[0]?.extensions.code).toBe('MEMBER_NOT_FOUND');
  expect(methods).toEqual(['GET', 'POST']);
});

test.each([false, true])(
  'Apollo Client with automatic persisted queries, with hashes by GET: %s',
  async (useGETForHashedQueries) => {
    const methods: (string | undefined)[] = [];
    const sha256 = async () => 'a'.repeat(64);
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: ApolloLink.from([
        new PersistedQueryLink({ sha256, useGETForHashedQueries }),
        new HttpLink({ uri: url, headers, fetch: recorded(methods) }),
      ]),
    });
    const read = () => client.query({ query: gql(QUERY), variables, fetchPolicy: 'network-only' });
    expect((await read()).data).toMatchObject({ memberByEmail: member });
    await read();
    // Once it knows that queries are not stored, it sends no more hashes.
    expect(methods).toEqual([useGETForHashedQueries ? 'GET' : 'POST', 'POST', 'POST']);
    expect(client.cache.extract()).toHaveProperty('PartnerMemberRead:m-both');
  },
);

test.each(['POST', 'GET'] as const)('graphql-request by %s', async (method) => {
  const client = new GraphQLClient(url, { headers, method });
  expect(await client.request(QUERY, variables)).toEqual({ memberByEmail: member });
});

test('Relay compiles a refetchable fragment and a list, and reads them', async () => {
  const introspected = await new GraphQLClient(url, { headers }).request<IntrospectionQuery>(
    getIntrospectionQuery(),
  );
  const schema = printSchema(buildClientSchema(introspected));
  writeFileSync(join(folder.path, 'schema.graphql'), schema);
  const source = join(folder.path, 'src');
  mkdirSync(source);
  writeFileSync(join(source, 'list.js'), RELAY_SOURCE);
  const config = { src: './src', schema: './schema.graphql', language: 'javascript' };
  writeFileSync(join(folder.path, 'relay.config.json'), JSON.stringify(config));
  const resolve = createRequire(import.meta.url).resolve;
  const compiler = join(resolve('relay-compiler/package.json'), '../cli.js');
  execFileSync(process.execPath, [compiler, 'relay.config.json'], { cwd: folder.path });

  const environment = new Environment({
    store: new Store(new RecordSource()),
    network: Network.create(async ({ text: query }, all) => {
      const body = JSON.stringify({ query, variables: all });
      const type = { 'content-type': 'application/json' };
      const sent = { method: 'POST', headers: { ...headers, ...type }, body };
      // Cast: the API answers in this form.
      return (await (await fetch(url, sent)).json()) as GraphQLResponse;
    }),
  });
  const load = (name: string) =>
    createRequire(import.meta.url)(join(source, '__generated__', `${name}.graphql.js`));
  const refetched = await fetchQuery(environment, load('listRefetchQuery'), {
    id: 'm-both',
  }).toPromise();
  expect(refetched).toMatchObject({ node: { __id: 'm-both' } });
  const listed = await fetchQuery(environment, load('listQuery'), {}).toPromise();
  expect(JSON.stringify(listed)).toContain('__fragments');
});

const RELAY_SOURCE = `
graphql\`
  fragment list_member on PartnerMemberRead @refetchable(queryName: "listRefetchQuery") {
    id tier points
  }
\`;
graphql\`
  fragment list_members on Query
  @refetchable(queryName: "listPaginationQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 10 }, after: { type: "String" }) {
    members(first: $first, after: $after) @connection(key: "list_members") {
      edges { node { ...list_member } }
    }
  }
\`;
graphql\`query listQuery { ...list_members }\`;
`;
