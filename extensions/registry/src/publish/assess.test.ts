// Assessing a change in a child process, and what becomes of schemas that are hostile.
import { assess, missingFromRunning } from './assess.ts';
import type { Step } from './assessment.ts';
import { withSubgraph } from './assessment.ts';
import { committedContent } from './content.ts';
import { TooLargeError } from './faults.ts';

const LINK = `extend schema @link(
  url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag", "@cost", "@override"])`;
const OFFERS = `${LINK}
type Query {
  offers: [Offer!] @tag(name: "partner") @cost(weight: 5)
}
type PartnerMemberRead @key(fields: "memberId") {
  memberId: ID!
  offers: [Offer!]! @tag(name: "partner")
}
type Offer { title: String @tag(name: "partner")  hint: String }
`;

const before = committedContent();
const entry = { name: 'offers', url: 'https://offers.example', batching: false, codes: [] };
const step = (sdl: string): Step => ({ kind: 'subgraph', before, entry, sdl, file: 'o.graphql' });

test('a team’s next assessment finds a warm process, that of another team a new one', async () => {
  const spent: number[] = [];
  const other = { ...entry, name: 'games', url: 'https://games.example' };
  for (const each of [entry, entry, other])
    await assess({ ...step(OFFERS), entry: each } as Step, (ms) => spent.push(ms));
  const [first = 0, second = 0, third = 0] = spent;
  expect(second).toBeLessThan(0.75 * first);
  expect(second).toBeLessThan(0.75 * third);
});

test('an assessment has the changes, the notices, and the content to publish', async () => {
  const { after, changes, needs, notices, policyFaults, lines } = await assess(step(OFFERS));
  expect(changes.map(({ surface, coordinate }) => `${surface} ${coordinate}`)).toEqual([
    'partner Offer',
    'partner PartnerMemberRead.offers',
    'partner Query.offers',
  ]);
  expect(lines).toHaveLength(3);
  expect([needs, policyFaults]).toEqual([[], []]);
  expect(notices).toEqual([
    {
      level: 'notice',
      message:
        'o.graphql:4:42: @cost is ignored: the gateway computes the cost of an operation without it',
    },
    {
      level: 'notice',
      coordinate: 'Offer.hint',
      message: 'Offer.hint: no @tag, so no caller sees it',
    },
    {
      level: 'notice',
      coordinate: 'PartnerMemberRead.offers',
      message:
        'PartnerMemberRead.offers: never null, so callers get no such object at all while offers is away',
    },
  ]);
  const moved: Step = {
    kind: 'subgraph',
    before: after,
    entry: { ...entry, url: 'https://new.example' },
    sdl: OFFERS.replace('@cost(weight: 5)', '@tag(name: "scope-enroll")'),
    file: 'o.graphql',
  };
  const next = await assess(moved);
  expect(next.needs).toEqual([
    {
      rule: 'url',
      what: 'offers would be called at https://new.example instead of https://offers.example',
      losing: [],
    },
  ]);
  expect(next.notices.slice(0, 2)).toEqual([
    {
      level: 'notice',
      message: 'the URL changes from https://offers.example to https://new.example',
    },
    { level: 'notice', coordinate: 'Query.offers', message: 'needs enroll instead of read' },
  ]);
  const removed = await assess({ kind: 'removal', before: after, name: 'offers' });
  expect(removed.changes.map(({ level }) => level)).toContain('breaking');
});

test('what does not compose is refused with its lines', async () => {
  await expect(assess(step('type Query { a: Int'))).rejects.toMatchObject({
    faults: [expect.stringMatching(/^o\.graphql:1:20: Syntax Error/)],
  });
});

test('a schema that is nested too deeply is refused, and the next one is assessed', async () => {
  const deep = step(`type Query { a: ${'['.repeat(500_000)}Int${']'.repeat(500_000)} }`);
  const refused = assess(deep).catch((error: unknown) => error);
  const assessed = assess(step(OFFERS));
  expect(await refused).toBeInstanceOf(TooLargeError);
  expect((await assessed).changes).toHaveLength(3);
});

test('a schema that a subgraph answers with is read aside, however long that takes', async () => {
  const deep = `type A { a: ${'['.repeat(500_000)}Int${']'.repeat(500_000)} }`;
  const answers = [deep, 'type A {', 'type A { b: Int }'].map((running) =>
    missingFromRunning(running, 'type A { a: Int }'),
  );
  expect(await Promise.all(answers)).toEqual([
    { fault: 'with a schema that is too large' },
    { fault: 'with a syntax error' },
    { missing: ['A.a'] },
  ]);
});

test('what an assessment finds is too large if reading it would hold up the gateway', async () => {
  // Each value that goes away affects every field with the enum.
  const values = Array.from({ length: 500 }, (_, n) => `VALUE_${n}`);
  const fields = values.map((value) => `field_${value}: E @tag(name: "partner")`);
  const sdl = (names: string[]) =>
    `${LINK} type Query { ${fields.join('\n')} } enum E { ${names.join(' ')} }`;
  const { after } = await assess(step(sdl(values)));
  const removal: Step = { ...step(sdl(['OTHER'])), before: after };
  await expect(assess(removal)).rejects.toBeInstanceOf(TooLargeError);
});

test('what takes over half of a response to introspect is refused with the number, not shrinking it', async () => {
  const sdl = (length: number) =>
    `${LINK} type Query { offers(of: String = "${'x'.repeat(length)}"): Int @tag(name: "partner") }`;
  await expect(assess(step(sdl(600_000)))).rejects.toMatchObject({
    faults: [
      expect.stringMatching(
        /^the partner surface: its introspection has 66\d{4} bytes, and may have 524288$/,
      ),
    ],
  });
  const large = withSubgraph(before, entry, { sdl: sdl(600_000), file: 'o.graphql' });
  const shrunk = await assess({ ...step(sdl(599_999)), before: large });
  expect(shrunk.after.schemas.offers).toHaveLength(sdl(599_999).length);
});

test('a subgraph that takes over a quarter of the introspection needs an operator, unless it shrinks', async () => {
  const sdl = (length: number) =>
    `${LINK} type Query { offers(of: String = "${'x'.repeat(length)}"): Int @tag(name: "partner") }`;
  const { after, needs } = await assess(step(sdl(140_000)));
  expect(needs).toEqual([
    {
      rule: 'size',
      what: expect.stringMatching(
        /^offers would have 14\d{4} bytes of the introspection of the partner surface, over 131072$/,
      ),
      losing: [],
    },
  ]);
  expect((await assess({ ...step(sdl(139_999)), before: after })).needs).toEqual([]);
});

test('a team that published much, shrank, and goes back while others have grown is refused with the number', async () => {
  const sdlOf = (field: string, length: number) =>
    `${LINK} type Query { ${field}(of: String = "${'x'.repeat(length)}"): Int @tag(name: "partner") }`;
  const third = { ...entry, name: 'third' };
  const both = withSubgraph(
    withSubgraph(before, entry, { sdl: sdlOf('offers', 1), file: 'o.graphql' }),
    third,
    { sdl: sdlOf('third', 300_000), file: 't.graphql' },
  );
  const big = sdlOf('offers', 300_000);
  const approved = withSubgraph(before, entry, { sdl: big, file: 'o.graphql' });
  const back: Step = { kind: 'subgraph', before: both, entry, sdl: big, file: 'o', approved };
  const fault = /^the partner surface: its introspection has 66\d{4} bytes, and may have 524288$/;
  await expect(assess(back)).rejects.toMatchObject({ faults: [expect.stringMatching(fault)] });
});

test('a team that removes what hid the large input of another is refused with the number', async () => {
  const sdlOf = (fields: string) =>
    `${LINK.replace('"@key"', '"@shareable"')} input Asked { a: Int ${fields} }
     type Query { ask(of: Asked): Int @shareable @tag(name: "partner") }`;
  const large = sdlOf(`b: String = "${'x'.repeat(600_000)}"`);
  const hidden = withSubgraph(
    withSubgraph(before, entry, { sdl: sdlOf(''), file: 'o.graphql' }),
    { ...entry, name: 'third' },
    { sdl: large, file: 't.graphql' },
  );
  await expect(assess({ kind: 'removal', before: hidden, name: 'offers' })).rejects.toMatchObject({
    faults: [expect.stringContaining('and may have 524288')],
  });
});

test('what all would read is refused before it is compared', async () => {
  const sdl = `${LINK} "${'x'.repeat(1_200_000)}" type Query { offers: Int @tag(name: "partner") }`;
  await expect(assess(step(sdl))).rejects.toMatchObject({
    faults: [expect.stringContaining('have 1200000 bytes, and may have 65536')],
  });
});
