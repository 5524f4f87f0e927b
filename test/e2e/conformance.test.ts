// The audits of graphql-http (GraphQL over HTTP) against the running gateway, asked with a partner key.
import { serverAudits } from 'graphql-http';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';

/** Audits by id that contradict the contract (section 1), which wins. */
const CONTRADICTIONS: Record<string, string> = {
  '572B': 'a syntax error is 400, for application/json too',
  FDE2: 'a document that does not fit the schema is 400, for application/json too',
  '7B9B': 'a variable of the wrong type is 400, for application/json too',
  '5A70': 'every method but POST is 405',
  D6D5: 'every method but POST is 405',
  '6A70': 'every method but POST is 405',
};

let stage: Stage;

beforeAll(async () => {
  stage = await startInProcess();
});
afterAll(() => stage.close());

const audits = serverAudits({
  url: () => `${stage.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set('x-partner-api-key', stage.keys.alpha);
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

test('there are audits that have to pass', () => {
  expect(audits.filter(({ name }) => name.startsWith('MUST')).length).toBeGreaterThan(10);
});
