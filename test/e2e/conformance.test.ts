// The GraphQL over HTTP audits of the package graphql-http, run against the gateway as a partner.
import { serverAudits } from 'graphql-http';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

/** Audits by id that contradict docs/api.md, HTTP, which takes precedence. */
const CONTRADICTIONS: Record<string, string> = {
  '572B': 'a syntax error is 400 for application/json too',
  FDE2: 'a validation error is 400 for application/json too',
  '7B9B': 'a variable of the wrong type is 400 for application/json too',
  '5A70': 'every method except POST is 405',
  D6D5: 'every method except POST is 405',
  '6A70': 'every method except POST is 405',
};

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess();
});
afterAll(() => service.close());

const audits = serverAudits({
  url: () => `${service.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set('x-partner-api-key', service.keys.alpha);
    return fetch(url, { ...init, headers });
  },
});

test.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (name, { id, fn }) => {
  const result = await fn();
  if (id in CONTRADICTIONS) {
    expect(name).not.toMatch(/^MUST/);
    expect(result.status).toBe(name.startsWith('SHOULD') ? 'warn' : 'notice');
  } else {
    expect(result).toEqual({ id, name, status: 'ok' });
  }
});

test('there are audits that must pass', () => {
  expect(audits.filter(({ name }) => name.startsWith('MUST')).length).toBeGreaterThan(10);
});
