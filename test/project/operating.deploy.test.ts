// Follows the instructions for operators: imports, sign-in in a browser, and separate services.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { startBrowser } from '../support/servers/browser.ts';
import { freshMongodbUrl, redisUrl } from '../support/servers/databases.ts';
import { freePort, run } from '../support/servers/process.ts';
import { loyalty } from '../support/service/loyalty.ts';
import { startService } from '../support/service/npmstart.ts';
import { until } from '../support/until.ts';

const page = (name: string) =>
  readFileSync(join(import.meta.dirname, `../../docs/operators/${name}.md`), 'utf8');

test('the commands for partners, keys and imports take the files of their page as they stand', async () => {
  const [, program = '', commands = '', members = '', activities = ''] =
    /^```json\n(.*?)^```.*?^```\n(.*?)^```.*?^```json\n(.*?)^```.*?^```json\n(.*?)^```/ms.exec(
      page('command'),
    ) ?? [];
  const folder = temporaryFolder();
  const files = {
    'program.json': program,
    'members.ndjson': members,
    'activities.ndjson': activities,
  };
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder.path, name), content);
  const lines = commands.trim().split('\n');
  expect(lines).toHaveLength(4);
  try {
    for (const line of lines) {
      const args = line
        .replace('npx --no-install loyalty ', '')
        .split(' ')
        .map((each) => (each in files ? join(folder.path, each) : each));
      const { code, stderr } = await loyalty({ DATA_DIR: join(folder.path, 'data') }, ...args);
      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: expect.any(String) });
    }
    const env = { DATA_DIR: join(folder.path, 'data') };
    const { stdout } = await loyalty(env, 'members', 'export', 'm-1001');
    for (const text of ['ada@old.example.com', '4711', 'stay-9']) expect(stdout).toContain(text);
  } finally {
    folder.remove();
  }
});

test("the commands for trying the sign-in lead to a member's profile", async () => {
  const [, commands = ''] =
    /^## Mail without a mail server$.*?^```\n(.*?)^```/ms.exec(page('running')) ?? [];
  const folder = temporaryFolder();
  const port = `${await freePort()}`;
  const service = await startService({
    PORT: port,
    DATA_DIR: folder.path,
  });
  const browser = await startBrowser();
  try {
    const [key = ''] = /pk_test_\w+/.exec(service.output()) ?? [];
    const here = commands
      .replace('pk_test_…', key)
      .replaceAll(':4000', `:${port}`)
      .replaceAll('data/sandbox', folder.path);
    const [accepted, link = '', ...rest] = (await run('bash', ['-c', here])).split('\n');
    expect([accepted, rest]).toEqual(['{"data":{"requestMagicLink":{"accepted":true}}}', ['']]);
    const tab = await browser.newPage();
    await tab.goto(link);
    await tab.getByRole('button').click();
    await tab.getByRole('heading', { name: 'Your profile' }).waitFor();
    const shown = await tab.getByRole('main').innerText();
    for (const text of ['Teal Heron', 'Teal.Heron@example.com', 'Demo Hotels', 'Gold', '5,200'])
      expect(shown).toContain(text);
  } finally {
    await browser.close();
    await service.kill();
    folder.remove();
  }
});

test('the commands for separate services start subgraphs, and two gateways beside each other', async () => {
  const [, commands = ''] =
    /^## Separate services$.*?^```\n(.*?)^```/ms.exec(page('running')) ?? [];
  const folder = temporaryFolder();
  const database = freshMongodbUrl();
  const [members, standings, first, second, ...admin] = await Promise.all(
    Array.from({ length: 6 }, freePort),
  );
  const here = commands
    .replace('mongodb://localhost/loyalty', database.url)
    .replace('redis://localhost', redisUrl())
    .replaceAll(':4011', `:${members}`)
    .replaceAll(':4012', `:${standings}`)
    .replace('npm start -w subgraphs/members', `PORT=${members} ADMIN_PORT=0 $&`)
    .replace('npm start -w subgraphs/standings', `PORT=${standings} ADMIN_PORT=0 $&`)
    .replace(/^npm start -w gateway/m, `PORT=${first} ADMIN_PORT=${admin[0]} $&`)
    .replace('PORT=4002 ADMIN_PORT=14002', `PORT=${second} ADMIN_PORT=${admin[1]}`)
    .replace('data/gateway-2', folder.path);
  const shell = spawn('bash', ['-c', here], {
    cwd: join(import.meta.dirname, '../..'),
    // A process group of its own, so that everything that it starts can be ended.
    detached: true,
    stdio: 'ignore',
  });
  const ended = once(shell, 'close');
  try {
    for (const port of admin) {
      // Cast: what /readyz answers (docs/operators/running.md, Settings).
      const answer = () =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          (reply) => reply.json() as Promise<{ dependencies: Record<string, string> }>,
          () => undefined,
        );
      const dependencies = await until(async () => {
        const reply = await answer();
        const states = Object.values(reply?.dependencies ?? { none: 'down' });
        const isUp = states.length > 0 && states.every((state) => state === 'up');
        return isUp && reply?.dependencies;
      });
      expect(dependencies).toEqual({ keys: 'up', members: 'up', standings: 'up', redis: 'up' });
    }
  } finally {
    if (shell.pid) process.kill(-shell.pid, 'SIGKILL');
    await ended;
    await database.drop();
    folder.remove();
  }
});
