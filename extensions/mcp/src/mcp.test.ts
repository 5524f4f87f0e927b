// A request to /mcp whose key ends while it arrives.
import { issueKey } from '@partner-loyalty/gateway/identity/apikey.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { answering, openPlace } from '../../../gateway/test/gateway.ts';
import { UNSHARED } from '../../../test/support/requests/unshared.ts';
import * as mcp from './extension.ts';

test('a key that is revoked while a slow body arrives does nothing any more', async () => {
  const place = await openPlace();
  const createdAt = new Date('2026-03-04T05:06:07Z');
  await place.keyStore.createPartner({ partnerId: 'inn', name: 'Inn', createdAt });
  const gateway = await place.open({
    subgraph: answering({}, () => {}),
    log: createLog('silent'),
    extensions: [mcp],
  });
  const { key, record } = issueKey('sandbox', 'inn', createdAt, { endpoint: 'mcp' });
  await place.keyStore.createKey(record);
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const send = (body: () => Promise<Buffer>) =>
    gateway.handle({
      ...{ method: 'POST', path: '/mcp', search: '', requestId: 'r', address: '192.0.2.1' },
      ...UNSHARED,
      signal: new AbortController().signal,
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body,
    });
  const bytes = Buffer.from(JSON.stringify(message));
  expect((await send(async () => bytes)).status).toBe(200);
  const now = performance.now.bind(performance);
  const revoked = send(async () => {
    await place.keyStore.revokeKey(record.keyId, new Date());
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
    return bytes;
  });
  expect((await revoked.finally(() => jest.restoreAllMocks())).status).toBe(401);
  await place.close();
});
