// The examples of the reference: every program compiles, and some of each language run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from '@swc/core';
import type { Example } from '../../extensions/site/src/docs/example.ts';
import {
  EXAMPLES,
  LANGUAGES,
  type Language,
  programOf,
} from '../../extensions/site/src/docs/examples.ts';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { run } from '../support/servers/process.ts';
import { type Demo, startDemo } from '../support/service/demo.ts';

type Toolchain = {
  /** The file of a program. */
  file(name: string): string;
  /** Rejects unless all programs in the folder are right. */
  compile: string | ((programs: string[]) => void);
  /** The shell command that runs a program. */
  run(name: string): string;
};

const CSHARP_ENTRY = `using System; using System.Threading.Tasks; class Entry { static void Main(string[] args) {
((Task)Type.GetType(args[0]).GetMethod("Main").Invoke(null, null)).Wait(); } }`;

const TOOLCHAINS: Record<Language, Toolchain> = {
  curl: {
    file: (name) => `${name}.sh`,
    compile: 'cat *.sh | bash -n',
    run: (name) => `bash ${name}.sh`,
  },
  JavaScript: {
    file: (name) => `${name}.mjs`,
    compile: (programs) => {
      for (const text of programs) parseSync(text, { syntax: 'ecmascript', target: 'es2022' });
    },
    run: (name) => `node ${name}.mjs`,
  },
  Python: {
    file: (name) => `${name}.py`,
    compile: 'python3 -m py_compile *.py',
    run: (name) => `python3 ${name}.py`,
  },
  Go: {
    file: (name) => `${name}/main.go`,
    compile: 'go mod init examples 2>&1 && go vet ./...',
    run: (name) => `go run ./${name}`,
  },
  PHP: {
    file: (name) => `${name}.php`,
    compile: 'for program in *.php; do php -l "$program" || exit 1; done',
    run: (name) => `php ${name}.php`,
  },
  Java: {
    file: (name) => `${name}.java`,
    compile: 'javac -Xlint:all -Werror *.java',
    run: (name) => `java -cp . ${name}`,
  },
  // Mono's compiler does not know an asynchronous Main.
  'C#': {
    file: (name) => `${name}.cs`,
    compile: `echo '${CSHARP_ENTRY}' >entry.cs && mcs -warnaserror -r:System.Net.Http -main:Entry -out:all.exe *.cs`,
    run: (name) => `mono all.exe ${name}`,
  },
};

let demo: Demo;
let folder: Folder;
beforeAll(async () => {
  folder = temporaryFolder();
  demo = await startDemo();
});
afterAll(async () => {
  await demo?.close();
  folder.remove();
});

describe.each(LANGUAGES)('%s', (language) => {
  const { file, compile, run: commandOf } = TOOLCHAINS[language];
  const home = () => join(folder.path, encodeURIComponent(language));
  const inHome = (command: string, variables: string[] = []) =>
    run('env', ['-C', home(), ...variables, 'bash', '-c', command]);

  beforeAll(() => {
    for (const example of EXAMPLES) {
      const path = join(home(), file(nameOf(example)));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, programOf(example, language, demo.endpoint));
    }
  });

  test('every example compiles', async () => {
    if (typeof compile === 'string') return void (await inHome(compile));
    compile(EXAMPLES.map((each) => programOf(each, language, demo.endpoint)));
  });

  const answerOf = async (name: string, key = demo.credentials.partner) => {
    const token = demo.credentials.member;
    const variables = [`PARTNER_LOYALTY_KEY=${key}`, `PARTNER_LOYALTY_TOKEN=${token}`];
    return JSON.parse(await inHome(commandOf(name), variables));
  };

  test('a read, a list, a mutation and an error print what the service answers', async () => {
    expect(await answerOf('MemberProfile')).toMatchObject({
      data: { memberProfile: { memberId: 'demo-001' } },
    });
    const { data } = await answerOf('Members');
    expect(data.members.edges).toHaveLength(2);
    expect(await answerOf('EnrollMember')).toMatchObject({
      data: { enrollMember: { member: { email: 'ada@example.com', externalId: 'guest-4711' } } },
    });
    expect(await answerOf('UnknownMember')).toMatchObject({
      data: { memberByEmail: null },
      errors: [{ extensions: { code: 'MEMBER_NOT_FOUND' } }],
    });
    expect(await answerOf('UnknownMember', 'pk_test_unknown')).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });
});

/** The name of the operation, which is that of the program. */
function nameOf({ query }: Example): string {
  return query.split(/[ ({]/)[1] ?? '';
}
