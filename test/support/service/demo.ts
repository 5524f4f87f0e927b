// A service with the demo, as `npm start` has it, and credentials of one partner and one member.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueKey, KEY_SCOPES, openKeyStore, type SurfaceName } from '@partner-loyalty/gateway';
import type { Example } from '@partner-loyalty/site/docs/example.ts';
import { TOKEN } from '@partner-loyalty/site/docs/examples.ts';
import { temporaryFolder } from '../folder.ts';
import { startProvider } from '../servers/provider.ts';
import { until } from '../until.ts';
import { startService } from './npmstart.ts';

export type Demo = {
  endpoint: string;
  /** A key of demo-hotels that has every scope, and a token of its member demo-001. */
  credentials: Readonly<Record<SurfaceName, string>>;
  /** Runs an example. One that takes a token gets that of the mail which the last one asked for. */
  run(example: Example): Promise<unknown>;
  close(): Promise<void>;
};

const LISTS =
  '{ members(first: 2) { pageInfo { hasNextPage } } events(first: 2) { pageInfo { hasNextPage } } }';

/** The provider is the test's, since a token that a partner has can change nothing. */
export async function startDemo(): Promise<Demo> {
  const folder = temporaryFolder();
  const provider = await startProvider();
  const service = await startService({ DATA_DIR: folder.path, ...provider.env }, false);
  const store = await openKeyStore({ dataDir: folder.path, environment: 'sandbox' });
  const { key, record } = issueKey('sandbox', 'demo-hotels', new Date(), { scopes: KEY_SCOPES });
  await store.createKey(record);
  await store.close();
  const token = await provider.issue('demo-001');
  const headers = {
    partner: { 'x-partner-api-key': key },
    member: { authorization: `Bearer ${token}` },
  };
  const send = async (surface: SurfaceName, operation: object) => {
    const response = await fetch(service.endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'an-example',
        ...headers[surface],
      },
      body: JSON.stringify(operation),
    });
    return response.json();
  };
  // Lists and events show what was stored a moment ago.
  await until(async () => {
    const lists = JSON.stringify(await send('partner', { query: LISTS }));
    return lists.split('"hasNextPage":true').length === 3;
  });
  let address = '';
  return {
    endpoint: service.endpoint,
    credentials: { partner: key, member: token },
    async run({ surface, query, variables }) {
      const isWithToken = variables.token === TOKEN;
      const mailed = isWithToken ? { token: await tokenFor(address, folder.path) } : {};
      address = String(variables.email).toLowerCase();
      return send(surface, { query, variables: { ...variables, ...mailed } });
    },
    async close() {
      await service.stop();
      provider.close();
      folder.remove();
    },
  };
}

/** The token in the newest mail to an address. Mail leaves after the response. */
async function tokenFor(address: string, dataDir: string): Promise<string> {
  const outbox = join(dataDir, 'outbox');
  const found = () => {
    const files = existsSync(outbox) ? readdirSync(outbox).sort().reverse() : [];
    return files
      .filter((file) => file.endsWith('.eml')) // The others are still being written.
      .map((file) => readFileSync(join(outbox, file), 'utf8'))
      .filter((mail) => mail.toLowerCase().includes(`\nto: ${address}`))
      .flatMap((mail) => /\?token=([\w-]+)/.exec(mail)?.[1] ?? [])[0];
  };
  return until(found);
}
