// The tools.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../test/support/folder.ts';
import { superlinear } from './check.ts';
import { GENERATED, ROOT } from './generated.ts';
import { resolverTypes, resolverTypesConfig, typedSubgraphs } from './resolvertypes.ts';

// The check of regular expressions finds those that are not linear, and only those.

const check = (text: string) => superlinear({ path: 'x.ts', text });

test.each([
  ['exponential', '/^(a+)+$/', 'exponential'],
  ['quadratic, since two parts share the same text', '/^a*a*$/', 'polynomial'],
  ['quadratic, since it is searched for from every character', '/a+$/', 'polynomial'],
])('%s: %s', (_, expression, degree) => {
  expect(check(`const found = ${expression}.test(text);`)).toEqual([
    expect.stringContaining(`x.ts: ${expression} is not linear: ${degree}`),
  ]);
});

test.each(['/^[a-z]+$/', '/[\\s,]+/', '/^\\d{1,15}$/', '/a+b/y'])('linear: %s', (expression) => {
  expect(check(`const found: boolean = ${expression}.test(text);`)).toEqual([]);
});

test('an expression that is built at run time is refused', () => {
  for (const text of ['new RegExp(pattern)', "RegExp('^a+$')"])
    expect(check(text)).toEqual([expect.stringMatching(/^x\.ts: .* cannot be checked$/)]);
});

// Resolver types: the code does not compile if it forgets a field of the schema.
describe('resolvertypes', () => {
  const ADDITIONS = [
    { subgraph: 'members', type: 'Query', field: 'newestMember', returns: 'PartnerMemberRead' },
    { subgraph: 'members', type: 'PartnerMemberRead', field: 'nickname', returns: 'String' },
    // The objects of this type have a property of this name and another type.
    { subgraph: 'standings', type: 'Standing', field: 'program', returns: 'Int!' },
  ];

  let folder: ReturnType<typeof temporaryFolder>;
  let report: string;

  beforeAll(async () => {
    folder = temporaryFolder();
    for (const { subgraph, type, field, returns } of ADDITIONS)
      await copySubgraph(subgraph, `${subgraph}-${type}-${field}`, (schema) =>
        withField(schema, type, `${field}: ${returns}`),
      );
    for (const subgraph of ['members', 'standings'])
      await copySubgraph(subgraph, `${subgraph}-as-it-is`, (schema) => schema);
    report = compile();
  });
  afterAll(() => folder.remove());

  test.each(ADDITIONS)(
    '$subgraph: $field of type $type ($returns) does not compile without a resolver',
    ({ subgraph, type, field }) => {
      expect(errorsIn(`${subgraph}-${type}-${field}`)).toMatch(`'${field}' is missing in type`);
    },
  );

  test.each(['members', 'standings'])('%s compiles as it is', (subgraph) => {
    expect(errorsIn(`${subgraph}-as-it-is`)).toBe('');
  });

  test('the resolver types of both subgraphs are among the generated files', () => {
    const files = GENERATED.map(({ file }) => file);
    expect(typedSubgraphs(ROOT)).toEqual(['subgraphs/members', 'subgraphs/standings']);
    for (const subgraph of typedSubgraphs(ROOT))
      expect(files).toContain(`${subgraph}/${resolverTypesConfig(join(ROOT, subgraph)).output}`);
  });

  test('a field that is added to the schema makes the generated file out of date', async () => {
    const folder = join(ROOT, 'subgraphs/members');
    const schema = readFileSync(join(folder, 'schema.graphql'), 'utf8');
    const { output, mappers } = resolverTypesConfig(folder);
    const committed = readFileSync(join(folder, output), 'utf8');
    expect(await resolverTypes(schema, mappers)).toBe(committed);
    expect(await resolverTypes(withField(schema, 'Query', 'more: Int'), mappers)).not.toBe(
      committed,
    );
  });

  /**
   * Copies a subgraph's sources into the temporary folder, with the resolver types of a schema that
   * `change` has changed.
   */
  async function copySubgraph(
    subgraph: string,
    copy: string,
    change: (schema: string) => string,
  ): Promise<void> {
    const [from, to] = [join(ROOT, 'subgraphs', subgraph), join(folder.path, copy)];
    mkdirSync(to);
    for (const part of ['src', 'package.json'])
      cpSync(join(from, part), join(to, part), { recursive: true });
    const { output, mappers } = resolverTypesConfig(from);
    const schema = change(readFileSync(join(from, 'schema.graphql'), 'utf8'));
    writeFileSync(join(to, output), await resolverTypes(schema, mappers));
  }

  function withField(schema: string, type: string, field: string): string {
    return schema.replace(new RegExp(`^type ${type}\\b[^{]*\\{`, 'm'), `$&\n  ${field}`);
  }

  /** What the compiler says about all copies. */
  function compile(): string {
    symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
    const project = {
      extends: join(ROOT, 'tsconfig.json'),
      include: ['*/src'],
      exclude: ['**/*.test.ts'],
    };
    writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify(project));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    return spawnSync(process.execPath, [tsc, '--pretty', 'false'], {
      cwd: folder.path,
      encoding: 'utf8',
    }).stdout;
  }

  function errorsIn(copy: string): string {
    return report
      .split(/\n(?=\S)/)
      .filter((error) => error.startsWith(`${copy}/`))
      .join('\n');
  }
});
