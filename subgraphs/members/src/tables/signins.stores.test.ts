// How many sign-ins may be open at the same time, on each engine.
import { ENGINES } from '../../../../test/support/engines.ts';
import { emptyPlace } from '../../../../test/support/servers/databases.ts';
import { type OpenedTables, openTables } from '../../../../test/support/store/tables.ts';
import { address } from '../../test/engine.ts';
import {
  BEGUN,
  openSignIns,
  SIGN_IN_MS,
  SIGN_INS,
  type SignInStore,
  secretHash,
} from './signins.ts';

describe.each(ENGINES)('at most six sign-ins at the same time on %s', (engine) => {
  let place: ReturnType<typeof emptyPlace>;
  let store: OpenedTables;
  let signIns: SignInStore;
  beforeEach(async () => {
    place = emptyPlace(engine);
    store = await openTables(place.settings, [SIGN_INS, BEGUN]);
    signIns = await openSignIns(store.open, { size: 6, characters: 0 });
  });
  afterEach(async () => {
    await store.close();
    await place.release();
  });

  let begun = 0;
  /** Begins one, named by its client address and a number, a second after the one before. */
  const begin = async (signInId: string, expiresAt?: number) => {
    begun += 1;
    const signIn = {
      signInId,
      address: address('ada@example.com'),
      client: signInId.replace(/-.*/, ''),
      expiresAt: expiresAt ?? Date.now() + SIGN_IN_MS + begun * 1_000,
      tries: 0,
    };
    await store.open.transact((tx) => signIns.begin(tx, signIn));
    await signIns.trim(signInId);
  };
  const beginAll = async (...signInIds: string[]) => {
    for (const signInId of signInIds) await begin(signInId);
  };
  const open = async (...signInIds: string[]) => {
    const found = await Promise.all(signInIds.map((signInId) => signIns.find(signInId)));
    return found.flatMap((one) => one?.signInId ?? []);
  };

  test('a flood from many addresses: the oldest of the address with most goes first', async () => {
    await beginAll('a-1', 'b-1', 'c-1', 'b-2', 'b-3', 'a-2');
    await begin('d-1');
    expect(await open('a-1', 'a-2', 'b-1', 'b-2', 'b-3', 'c-1')).toEqual([
      ...['a-1', 'a-2', 'b-2', 'b-3', 'c-1'],
    ]);
    await beginAll('e-1', 'f-1');
    expect(await open('a-2', 'b-3', 'c-1', 'd-1', 'e-1', 'f-1')).toHaveLength(6);
  });

  test('a code can be used again for a minute by whoever holds the sign-in, and no other ends it', async () => {
    await begin('a-1');
    const mailbox = 'ada@example.com';
    const [code, token] = [secretHash('a-1', '123'), secretHash('a-1', 'si_')];
    await signIns.mailed('a-1', { mailbox, code, token });
    const finish = (typed: string) => signIns.finish('a-1', 'code', typed);
    const proof = { mailed: { mailbox } };
    expect([await finish('123'), await finish('123')]).toMatchObject([proof, proof]);
    for (let tries = 0; tries < 5; tries += 1) expect(await finish('wrong')).toBe('ended');
    expect(await finish('123')).toMatchObject(proof);
    const [{ expiresAt = 0 } = {}] = await signIns.select(() => true);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  test('a flood with one from each address: the oldest of all goes first', async () => {
    await beginAll('d-1', 'c-1', 'e-1', 'f-1', 'b-1', 'g-1', 'a-1', 'h-1');
    expect(await open('e-1', 'f-1', 'b-1', 'g-1', 'a-1', 'h-1')).toHaveLength(6);
    expect(await signIns.select(() => true)).toHaveLength(6);
  });

  test('a part of them, by the first character of its hashes, stands for all', async () => {
    signIns = await openSignIns(store.open, { size: 2, characters: 1 });
    await beginAll('a-1', 'a-2', 'b-1', 'b-2', 'b-3');
    expect(await open('a-1', 'a-2', 'b-1', 'b-2', 'b-3')).toEqual(['a-1', 'a-2', 'b-2', 'b-3']);
    await begin('a-3');
    expect(await signIns.select(() => true)).toHaveLength(4);
  });

  test('a flood that has expired takes nobody’s', async () => {
    const gone = Date.now() - 1;
    await beginAll('a-1', 'a-2');
    for (const signInId of ['b-1', 'b-2', 'b-3', 'a-0']) await begin(signInId, gone);
    await beginAll('c-1', 'd-1', 'e-1', 'f-1');
    expect(await open('a-1', 'a-2', 'c-1', 'd-1', 'e-1', 'f-1')).toHaveLength(6);
  });

  test('those that are finished or of an erased address take no place', async () => {
    await beginAll('a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'c-1');
    for (let tries = 0; tries < 5; tries += 1) await signIns.finish('a-3', 'code', 'wrong');
    await begin('d-1');
    expect(await open('a-1', 'a-2', 'b-1', 'b-2', 'c-1', 'd-1')).toHaveLength(6);
    await signIns.discard(() => true);
    await beginAll('a-1', 'b-1', 'c-1', 'd-1', 'e-1', 'f-1');
    expect(await open('a-1', 'b-1', 'c-1', 'd-1', 'e-1', 'f-1')).toHaveLength(6);
  });
});
