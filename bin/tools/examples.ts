// Records what a new service with the demo answers to the examples of the reference.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import {
  issueKey,
  KEY_SCOPES,
  openKeyStore,
  SURFACE_NAMES,
  type SurfaceName,
} from '@partner-loyalty/gateway';
import {
  ERROR_EXAMPLE,
  EXAMPLES,
  type Example,
  exampleKey,
  TOKEN,
} from '@partner-loyalty/gateway/docs';
import { buildSchema } from 'graphql';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export type Demo = {
  endpoint: string;
  /** Headers with a key of demo-hotels that has every scope, and a token of its member demo-001. */
  credentials: Readonly<Record<SurfaceName, Record<string, string>>>;
  /** Runs an example. One that takes a token gets that of the mail which the last one asked for. */
  run(example: Example): Promise<unknown>;
  close(): Promise<void>;
};

/** Starts the service as `npm start` does, on free ports and new stores. */
export async function startDemo(root: string): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-demo-'));
  const provider = await startProvider();
  const child = spawn(process.execPath, ['runtime/run.js', 'bin/start.ts'], {
    cwd: root,
    env: { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', ...provider.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const close = async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
    provider.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const endpoint = await printedEndpoint(child.stdout);
    const store = await openKeyStore({ dataDir: folder, environment: 'sandbox' });
    const { key, record } = issueKey('sandbox', 'demo-hotels', new Date(), { scopes: KEY_SCOPES });
    await store.createKey(record);
    await store.close();
    const credentials = {
      partner: { 'x-partner-api-key': key },
      member: { authorization: `Bearer ${await provider.issue('demo-001')}` },
    };
    let address = '';
    return {
      endpoint,
      credentials,
      close,
      async run({ surface, query, variables }) {
        const outbox = join(folder, 'outbox');
        const isWithToken = variables.token === TOKEN;
        const token = isWithToken ? { token: await tokenFor(address, outbox) } : {};
        address = String(variables.email);
        const response = await fetch(endpoint, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-request-id': 'an-example',
            ...credentials[surface],
          },
          body: JSON.stringify({ query, variables: { ...variables, ...token } }),
        });
        return response.json();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function printedEndpoint(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const [, endpoint] = /(http:\S+\/graphql)$/.exec(line) ?? [];
    if (endpoint !== undefined) return endpoint;
  }
  throw new Error('the service with the demo did not start');
}

/** A provider of tokens that a member's app has: one that a partner has can change nothing. */
async function startProvider() {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'demo', alg: 'ES256', use: 'sig' };
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // Cast: a server that listens on a port has an address with a port.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: { ID_TOKEN_ISSUER: issuer, ID_TOKEN_AUDIENCE: 'demo', ID_TOKEN_JWKS_URL: issuer },
    issue: (memberId: string) =>
      new SignJWT({ iss: issuer, aud: 'demo', sub: memberId })
        .setProtectedHeader({ alg: 'ES256', kid: 'demo' })
        .setIssuedAt()
        .setExpirationTime('1 h')
        .sign(privateKey),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The token of the newest mail to an address. Mail leaves after the response. */
async function tokenFor(address: string, outbox: string): Promise<string> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const mails = existsSync(outbox) ? readdirSync(outbox).sort().reverse() : [];
    for (const mail of mails) {
      const text = readFileSync(join(outbox, mail), 'utf8');
      const isTo = text.toLowerCase().includes(`\nto: ${address.toLowerCase()}`);
      const [, token] = (isTo && /token=([\w-]+)/.exec(text)) || [];
      if (token !== undefined) return token;
    }
    await delay(200);
  }
  throw new Error(`no mail with a token came for ${address}`);
}

const FILE = 'gateway/src/pages/docs/responses.generated.json';

/**
 * The responses as JSON, by the key of the example. If they differ from the committed ones only in
 * times and IDs, the committed ones. Throws if an operation has no example, or an example fails.
 */
export async function recordedResponses(root: string): Promise<string> {
  const demo = await startDemo(root);
  try {
    const fresh: Record<string, unknown> = {};
    for (const example of [...EXAMPLES, ERROR_EXAMPLE])
      fresh[exampleKey(example)] = await demo.run(example);
    const failed = EXAMPLES.map(exampleKey).filter((key) => /"errors":/.test(json(fresh[key])));
    const faulty = [...failed, ...withoutExample(root)];
    if (faulty.length > 0) throw new Error(`no example, or one that fails: ${faulty.join(', ')}`);
    const former = existsSync(join(root, FILE)) ? readFileSync(join(root, FILE), 'utf8') : '{}';
    return masked(JSON.parse(former)) === masked(fresh) ? former : `${json(fresh)}\n`;
  } finally {
    await demo.close();
  }
}

/** The operations of the committed surfaces that no example shows. */
function withoutExample(root: string): string[] {
  const keys = new Set(EXAMPLES.map(exampleKey));
  return SURFACE_NAMES.flatMap((surface) => {
    const text = readFileSync(join(root, `gateway/surface.${surface}.graphql`), 'utf8');
    const schema = buildSchema(text);
    return [schema.getQueryType(), schema.getMutationType()]
      .flatMap((type) => Object.keys(type?.getFields() ?? {}))
      .map((field) => exampleKey({ surface, field }))
      .filter((key) => !keys.has(key));
  });
}

function json(value: unknown): string {
  return JSON.stringify(value, shortToken, 2);
}

/** An ID token would fill half a screen. */
function shortToken(name: string, value: unknown): unknown {
  return name === 'idToken' && typeof value === 'string' ? `${value.slice(0, 20)}…` : value;
}

/** Without times, IDs, cursors and tokens. */
function masked(value: unknown): string {
  return json(value).replace(/"(\d{4}-\d\d-\d\dT[^"]*|[\w-]{20,}…?)"/g, '"…"');
}
