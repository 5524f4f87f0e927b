// The index of lists: built for the members that a former version has stored.
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { MongoClient } from 'mongodb';
import { ENGINES, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { createKeyVault } from '../signingkeys/signingkey.ts';
import { openLmdbMembersStore } from './store.lmdb.ts';
import { openMongoMembersStore } from './store.mongo.ts';
import type { BuildProgress } from './store.ts';

const OPEN = { lmdb: openLmdbMembersStore, mongodb: openMongoMembersStore };

/** Makes the store what a version without lists has written. */
const TAKE_AWAY = {
  async lmdb({ settings }: Place) {
    const { root } = await openLmdb(settings.dataDir, 'members', 'sandbox');
    await root.openDB({ name: 'lists', encoding: 'json' }).clearAsync();
    await root.transaction(() => root.remove('listed'));
    await root.close();
  },
  async mongodb({ settings }: Place) {
    const client = await new MongoClient(settings.mongodbUrl ?? '').connect();
    await client
      .db()
      .collection('members')
      .updateMany({}, { $unset: { listed: true } });
    await client.db().collection('members').dropIndex('listed.$**_1');
    await client
      .db()
      .collection('owners')
      .updateMany({}, { $unset: { listed: true } });
    await client.close();
  },
};

test.each(ENGINES)(
  '%s builds the lists of existing members at its first start, killed or not',
  async (engine) => {
    const place = newPlace(engine);
    const members = Array.from({ length: 1_200 }, (_, index) =>
      memberImport(`m${index}@example.com`, {
        memberId: `m${index}`,
        enrollments: [{ partnerId: 'inn.1', status: index < 3 ? 'ENDED' : 'ACTIVE' }],
      }),
    );
    const former = await place.open();
    await former.importMembers(members);
    await former.importMembers([
      memberImport('gone@example.com', { memberId: 'gone', enrollments: [{ partnerId: 'inn.1' }] }),
    ]);
    await former.rights.erase('gone');
    await place.closeAll();
    await TAKE_AWAY[engine](place);
    const vault = createKeyVault(undefined);
    const at = place.settings.mongodbUrl ?? place.settings.dataDir;
    const open = (onProgress: BuildProgress) =>
      OPEN[engine](at, 'sandbox', vault, place.settings.dataDir, onProgress);
    const kill = () => {
      throw new Error('killed');
    };
    await expect(open(kill)).rejects.toThrow('killed');
    const progress: number[][] = [];
    const store = await open((...counts) => progress.push(counts));
    // On MongoDB, with what keeps the events of the one who was erased, and of about as many.
    const counts = engine === 'mongodb' ? [1_201, expect.any(Number)] : [1_200, 1_200];
    expect(progress.at(-1)).toEqual(counts);
    expect(progress.length).toBeGreaterThan(1);
    const list = async (status: 'ACTIVE' | 'ENDED') =>
      store.list({
        partnerId: 'inn.1',
        status,
        after: { updatedAt: 0, memberId: '' },
        until: Date.now() + 1,
        limit: 2_000,
      });
    expect(await list('ACTIVE')).toHaveLength(1_197);
    expect((await list('ENDED')).map(({ memberId }) => memberId)).toEqual(['m0', 'm1', 'm2']);
    await store.close();
    const built: number[][] = [];
    await (await open((...counts) => built.push(counts))).close();
    expect(built).toEqual([]);
    await place.release();
  },
);
