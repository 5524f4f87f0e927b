// Follows the README's instructions for sign-in: its commands, the link in a browser, the button.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { startBrowser } from '../support/servers/browser.ts';
import { freePort } from '../support/servers/port.ts';
import { run } from '../support/servers/process.ts';
import { startService } from '../support/service/npmstart.ts';

test("the README's commands lead from the first start to a member's profile", async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const [, commands = ''] = /^## Member sign-in$.*?^```\n(.*?)^```/ms.exec(readme) ?? [];
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
