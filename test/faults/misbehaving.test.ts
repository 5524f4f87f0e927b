// A subgraph that answers anything but what it was asked for costs its own fields, and no others.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { parse } from 'graphql';
import { temporaryFolder } from '../support/folder.ts';
import { leaksIn } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

const ROOT = join(import.meta.dirname, '../..');
const SCHEMAS = {
  members: 'subgraphs/members/schema.graphql',
  standings: 'subgraphs/standings/schema.graphql',
  offers: 'examples/offers-apollo/schema.graphql',
};
const QUERY = `{
  own: memberByEmail(email: "both@example.com") { memberId tier }
  more: memberByEmail(email: "both@example.com") { email offers { title } }
  offer(offerId: "o1") { title endsAt }
}`;
const OWN = { memberId: 'm-both', tier: expect.any(String) };
const JSON_TYPE = { 'content-type': 'application/json' };

type Operation = { query: string; variables?: { representations?: { __typename: string }[] } };
type Answer = (operation: Operation, response: ServerResponse) => void;

/** What the subgraph answers now. */
let answer: Answer = () => {};
/** The log, by level. */
let lines: LogFields[] = [];
let errors: LogFields[] = [];
let service: InProcessService;
const folder = temporaryFolder();
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request.setEncoding('utf8')) body += piece;
  response.on('error', () => {});
  answer(JSON.parse(body), response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const file = join(folder.path, 'supergraph.graphql');
  writeFileSync(file, supergraph());
  service = await startInProcess({
    env: {
      SUPERGRAPH_FILE: file,
      // Cast: a server that listens on a port has an address.
      OFFERS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
      OFFERS_SECRET: 'the secret of offers',
    },
    log: {
      ...createLog('silent'),
      warn: (fields) => void lines.push(fields),
      outage: (fields) => void lines.push(fields),
      error: (fields) => void errors.push(fields),
    },
  });
});
beforeEach(() => {
  lines = [];
  errors = [];
});
afterAll(async () => {
  await service.close();
  server.closeAllConnections();
  server.close();
  folder.remove();
});

function supergraph(): string {
  const subgraphs = Object.entries(SCHEMAS).map(([name, path]) => ({
    name,
    typeDefs: parse(readFileSync(join(ROOT, path), 'utf8')),
  }));
  const { supergraphSdl, errors } = composeServices(subgraphs);
  if (supergraphSdl === undefined) throw new Error(errors?.join('\n'));
  return supergraphSdl;
}

function isEntities({ query }: Operation): boolean {
  return query.includes('_entities');
}

/** Answers both operations with JSON: of the offer, and of the entities. */
function inJson(offer: unknown, entities: unknown): Answer {
  return (operation, response) => {
    const body = isEntities(operation) ? entities : offer;
    response.writeHead(200, JSON_TYPE).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

const whole = (status: number, type: string, body: string): Answer => {
  return (_, response) => response.writeHead(status, { 'content-type': type }).end(body);
};
const GOOD_OFFER = { title: 't', endsAt: 'e' };

test('a subgraph that behaves is asked for its fields', async () => {
  answer = inJson(
    { data: { offer: GOOD_OFFER } },
    { data: { _entities: [{ offers: [{ title: 't' }] }] } },
  );
  const { status, body } = await service.send({ query: QUERY });
  expect([status, body]).toEqual([
    200,
    {
      data: {
        own: OWN,
        more: { email: 'Both@Example.com', offers: [{ title: 't' }] },
        offer: GOOD_OFFER,
      },
    },
  ]);
  expect(lines).toEqual([]);
});

describe('the other root fields are served, and the log names the fields, if it', () => {
  test.each<[string, Answer]>([
    ['answers HTML as an error', whole(500, 'text/html', '<html>')],
    ['hangs half-way', (_, response) => void response.writeHead(200, JSON_TYPE).write('{"data":')],
    ['answers data of another type', inJson({ data: [] }, { data: 'text' })],
  ])('%s', async (_, behavior) => {
    answer = behavior;
    const response = await service.send({ query: QUERY });
    expect(response.body).toMatchObject({
      data: { own: OWN, more: { email: 'Both@Example.com', offers: null }, offer: null },
      errors: [
        { path: ['more'], extensions: { code: 'SERVICE_UNAVAILABLE' } },
        { path: ['offer'], extensions: { code: 'SERVICE_UNAVAILABLE' } },
      ],
    });
    expect([response.status, leaksIn(response.text)]).toEqual([200, []]);
    expect(lines.map(({ subgraph, field }) => [subgraph, field]).sort()).toEqual([
      ['offers', '_entities.offers'],
      ['offers', 'offer'],
    ]);
  });
});

test.each<[string, unknown, unknown]>([
  ['an object for text', { title: { a: 1 }, endsAt: 'e' }, { offers: [{ title: {} }] }],
  ['a list for text', { title: ['t'], endsAt: 'e' }, { offers: [{ title: [] }] }],
  ['a number for text', { title: 1, endsAt: 'e' }, { offers: [{ title: 1 }] }],
  ['null for text that must be there', { title: null, endsAt: 'e' }, { offers: [{}] }],
  ['text for an object', 'offer', { offers: ['offer'] }],
  ['a list for an object', [GOOD_OFFER], { offers: [[GOOD_OFFER]] }],
  ['an object for a list', { endsAt: 'e' }, { offers: { title: 't' } }],
])('a field is null, and an error, if it has %s', async (_, offer, entity) => {
  answer = inJson({ data: { offer } }, { data: { _entities: [entity] } });
  const { status, body } = await service.send({ query: QUERY });
  expect([status, body.data]).toEqual([
    200,
    { own: OWN, more: { email: 'Both@Example.com', offers: null }, offer: null },
  ]);
  expect(body.errors?.map(({ path, extensions }) => [path?.[0], extensions.code])).toEqual([
    ['more', 'INTERNAL_SERVER_ERROR'],
    ['offer', 'INTERNAL_SERVER_ERROR'],
  ]);
  expect(errors).toEqual([
    expect.objectContaining({ field: expect.stringMatching(/^memberByEmail\.offers/), count: 2 }),
  ]);
});
