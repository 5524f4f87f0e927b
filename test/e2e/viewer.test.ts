// The field `viewer`: what a key is and may do.
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';

const QUERY =
  '{ viewer { partnerId partnerName keyId scopes expiresAt budget windowSeconds environment } }';

describe('viewer', () => {
  let service: InProcessService;
  beforeAll(async () => {
    service = await startInProcess({ env: { RATE_LIMIT_WINDOW_SECONDS: '30' } });
  });
  afterAll(() => service.close());

  test('says what the key of the request is, and costs 1', async () => {
    const { keys } = service.stores;
    const partner = { partnerId: 'viewed', name: 'Viewed\u202e Inn', budget: 50 };
    await keys.createPartner({ ...partner, createdAt: new Date() });
    const key = await addKey(keys, 'viewed');
    const { body, headers } = await service.send({ query: QUERY, key });
    const [record] = await keys.keys('viewed');
    expect(body).toEqual({
      data: {
        viewer: {
          partnerId: 'viewed',
          partnerName: 'Viewed Inn',
          keyId: record?.keyId,
          scopes: ['read', 'enroll', 'sign-in'],
          expiresAt: null,
          budget: 50,
          windowSeconds: 30,
          environment: 'sandbox',
        },
      },
    });
    expect(headers.get('ratelimit-remaining')).toBe('49');
  });

  test('needs no scope, and can be asked for beside other fields', async () => {
    const { keys } = service.stores;
    await addPartner(keys, { partnerId: 'narrow' });
    const key = await addKey(keys, 'narrow', 'sandbox', { scopes: ['ingest'] });
    const { body } = await service.send({ query: '{ viewer { scopes budget } }', key });
    expect(body.data).toEqual({ viewer: { scopes: ['ingest'], budget: 600 } });
    const beside = '{ viewer { partnerId } memberById(memberId: "m-both") { memberId } }';
    expect((await service.send({ query: beside, key })).code).toBe('FORBIDDEN');
    expect((await service.send({ query: beside, key: service.keys.alpha })).body.data).toEqual({
      viewer: { partnerId: 'alpha' },
      memberById: { memberId: 'm-both' },
    });
  });
});
