// Follows the README's instructions: for imports, and for sign-in with the link in a browser.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { startBrowser } from '../support/servers/browser.ts';
import { freePort, run } from '../support/servers/process.ts';
import { loyalty } from '../support/service/loyalty.ts';
import { startService } from '../support/service/npmstart.ts';

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

test("the README's commands for partners, keys and imports take its files as they stand", async () => {
  const [, commands = '', program = '', members = '', activities = ''] =
    /^`npx --no-install loyalty` manages.*?^```\n(.*?)^```.*?^```json\n(.*?)^```.*?^```json\n(.*?)^```.*?^```json\n(.*?)^```/ms.exec(
      README,
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

test("the README's commands lead from the first start to a member's profile", async () => {
  const [, commands = ''] = /^## Member sign-in$.*?^```\n(.*?)^```/ms.exec(README) ?? [];
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
    const page = await browser.newPage();
    await page.goto(link);
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'Your profile' }).waitFor();
    const shown = await page.getByRole('main').innerText();
    for (const text of ['Teal Heron', 'Teal.Heron@example.com', 'Demo Hotels', 'Gold', '5,200'])
      expect(shown).toContain(text);
  } finally {
    await browser.close();
    await service.kill();
    folder.remove();
  }
});
