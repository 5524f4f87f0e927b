// Traces as a collector receives them, from a gateway and two subgraphs in processes of their own.
import { randomBytes } from 'node:crypto';
import {
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
} from '../support/servers/otlp.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const READ = 'query FindMember($email: String!) { memberByEmail(email: $email) { memberId tier } }';
const PHASES = ['authenticate', 'read', 'budget', 'prepare', 'execute', 'respond'];

let receiver: OtlpReceiver;
let service: DeployedService;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  service = await startDeployed('three processes', {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_TRACES_SAMPLER_ARG: '0', // Only what callers ask for.
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
  });
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

const newTrace = () => ({
  traceId: randomBytes(16).toString('hex'),
  spanId: randomBytes(8).toString('hex'),
});
type Caller = ReturnType<typeof newTrace>;

const send = (headers: Record<string, string>, query = READ) =>
  service.send({ query, variables: { email: 'both@example.com' }, headers });
const sampled = ({ traceId, spanId }: Caller) => ({ traceparent: `00-${traceId}-${spanId}-01` });
const spansOf = ({ traceId }: Caller) => receiver.spans.filter((span) => span.traceId === traceId);

/** The spans of a trace, when both subgraphs and the gateway have exported theirs. */
async function traceOf(caller: Caller): Promise<ReceivedSpan[]> {
  await until(() => {
    const services = new Set(spansOf(caller).map((span) => span.service));
    return services.size === 3 && spansOf(caller).some((span) => span.name === 'POST /graphql');
  });
  return spansOf(caller);
}

function only(spans: ReceivedSpan[], name: string, kind: string): ReceivedSpan {
  const [span, ...more] = spans.filter((each) => each.name === name && each.kind === kind);
  if (span === undefined || more.length > 0) throw new Error(`not one span ${name}`);
  return span;
}

function expectWholeTrace(spans: ReceivedSpan[], caller: Caller): void {
  const request = only(spans, 'POST /graphql', 'SERVER');
  expect([request.service, request.parentSpanId]).toEqual([
    'partner-loyalty-gateway',
    caller.spanId,
  ]);
  const phases = spans.filter((span) => span.parentSpanId === request.spanId);
  expect(phases.map(({ name }) => name)).toEqual(PHASES);
  const execute = only(spans, 'execute', 'INTERNAL');
  for (const name of ['members', 'standings']) {
    const call = only(spans, `subgraph ${name}`, 'CLIENT');
    expect(call.parentSpanId).toBe(execute.spanId);
    const served = only(spans, `subgraph ${name}`, 'SERVER');
    expect([served.service, served.parentSpanId]).toEqual([`partner-loyalty-${name}`, call.spanId]);
  }
  expect(spans).toHaveLength(1 + PHASES.length + 4);
}

test("one trace leads from the caller's traceparent through the gateway and both subgraphs", async () => {
  const caller = newTrace();
  const headers = { ...sampled(caller), tracestate: 'vendor=opaque' };
  expect((await send(headers)).status).toBe(200);
  const spans = await traceOf(caller);
  expectWholeTrace(spans, caller);
  for (const { traceState } of spans) expect(traceState).toBe('vendor=opaque');
  const { attributes, isError } = only(spans, 'POST /graphql', 'SERVER');
  expect(isError).toBe(false);
  expect(attributes).toEqual({
    'http.response.status_code': 200,
    'graphql.operation.name': 'FindMember',
    'graphql.operation.type': 'query',
    'loyalty.operation_hash': expect.stringMatching(/^[0-9a-f]{16}$/),
    'loyalty.surface': 'partner',
    'loyalty.partner_id': 'alpha',
    'loyalty.key_id': expect.stringMatching(/^key_/),
  });
  expect([...receiver.requests]).toEqual(['POST /v1/traces application/x-protobuf']);
});

test('requests that travel to a subgraph together have a whole trace each', async () => {
  const callers = Array.from({ length: 5 }, newTrace);
  await Promise.all(callers.map((caller) => send(sampled(caller))));
  for (const caller of callers) expectWholeTrace(await traceOf(caller), caller);
});

test('nothing is recorded if the caller does not sample, or its traceparent is malformed', async () => {
  const [unsampled, malformed, last] = [newTrace(), newTrace(), newTrace()];
  await send({ traceparent: `00-${unsampled.traceId}-${unsampled.spanId}-00` });
  for (const traceparent of [
    `00-${malformed.traceId}-${malformed.spanId}`,
    `ff-${malformed.traceId}-${malformed.spanId}-01`,
    `00-${malformed.traceId}-${'0'.repeat(16)}-01`,
    `00-${malformed.traceId.toUpperCase()}G-${malformed.spanId}-01`,
    `${'x'.repeat(5_000)}`,
  ])
    expect((await send({ traceparent, tracestate: 'a=b' })).status).toBe(200);
  await send({});
  await send(sampled(last));
  await traceOf(last);
  expect([spansOf(unsampled), spansOf(malformed)]).toEqual([[], []]);
  expect(receiver.spans.filter(({ parentSpanId }) => parentSpanId === '')).toEqual([]);
});

test('a refused request is recorded with its code, and only with the phases that it had', async () => {
  const caller = newTrace();
  const headers = sampled(caller);
  await service.send({ query: READ, key: 'pk_test_unknown', headers });
  await until(() => spansOf(caller).some((span) => span.name === 'POST /graphql'));
  const request = only(spansOf(caller), 'POST /graphql', 'SERVER');
  expect(request.attributes).toMatchObject({ 'error.type': 'UNAUTHENTICATED' });
  expect(spansOf(caller).map(({ name }) => name)).not.toContain('execute');
});

test('no span holds an address, a member ID, a key, a variable or a literal', async () => {
  const caller = newTrace();
  await send(sampled(caller), `{ memberByEmail(email: "both@example.com") { memberId tier } }`);
  await traceOf(caller);
  for (const secret of ['both@', 'm-both', 'pk_test', 'memberByEmail(', service.keys.alpha])
    expect(receiver.bytes()).not.toContain(secret);
});

test('without the collector, requests are answered as usual, and the log says so', async () => {
  await receiver.close();
  for (let i = 0; i < 20; i += 1) expect((await send(sampled(newTrace()))).status).toBe(200);
  const { gateway } = service.stack;
  await until(() => gateway.output().includes('"msg":"spans could not be exported"'));
  expect((await send(sampled(newTrace()))).status).toBe(200);
});
