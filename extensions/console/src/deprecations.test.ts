// The section that shows a partner what it uses that will go away.
import { dayOf } from '@partner-loyalty/gateway/schema/dates.ts';
import { openUsageStore } from '@partner-loyalty/usage/stores.ts';
import { buildSchema } from 'graphql';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { createDeprecationsSection } from './deprecations.ts';
import type { ConsoleVisit } from './section.ts';

const deprecated = (reason: string, until: string) =>
  `@deprecated(reason: "${reason} Deprecated since 2026-01-31, kept until ${until}.")`;
const SCHEMA = buildSchema(`type Query {
  early: Int ${deprecated('Ask for <late>.', '2099-01-31')}
  late: Int ${deprecated('Ask nobody.', '2099-02-28')}
  unused: Int ${deprecated('Never asked for.', '2099-01-31')}
  current: Int
}`);

const visit = (partnerId: string): ConsoleVisit => ({
  staff: { staffId: 's', partnerId, email: 'a@b.example', role: 'viewer', createdAt: new Date() },
  query: new URLSearchParams(),
  requestId: 'r-1',
  changed() {},
});

test('a partner sees its own use of the last 30 days, what goes first on top', async () => {
  const { settings, release } = emptyPlace();
  const usageStore = await openUsageStore({ ...settings, environment: 'sandbox' });
  const [today, old] = [dayOf(Date.now()), dayOf(Date.now() - 31 * 86_400_000)];
  const use = (partnerId: string, name: string, day = today) => ({
    ...{ surface: 'partner' as const, partnerId, coordinate: `Query.${name}`, count: 1_700, day },
  });
  await usageStore.add({
    fields: [
      use('inn', 'late'),
      use('inn', 'early'),
      use('inn', 'current'),
      use('inn', 'unused', old),
      use('spa', 'unused'),
    ],
    operations: [],
  });
  const surface = {
    schema: SCHEMA,
    sdl: '',
    rootScopes: { query: new Map(), mutation: new Map() },
  };
  const graph = { version: 1, surfaces: { partner: surface, member: surface } };
  const { show } = createDeprecationsSection({ usageStore, graphs: { current: () => graph } });
  const rows = async (partnerId: string) =>
    [
      ...(await show(visit(partnerId))).html.matchAll(
        /<code>([\w.]+)<\/code>.*?(\d{4}-\d\d-\d\d)/g,
      ),
    ].map(([, coordinate, until]) => `${coordinate} ${until}`);
  expect(await rows('inn')).toEqual(['Query.early 2099-01-31', 'Query.late 2099-02-28']);
  expect(await rows('spa')).toEqual(['Query.unused 2099-01-31']);
  expect((await show(visit('inn'))).html).toContain('Ask for &lt;late&gt;.');
  expect((await show(visit('bar'))).html).toContain('You use nothing that is deprecated.');
  await usageStore.close();
  await release();
});
