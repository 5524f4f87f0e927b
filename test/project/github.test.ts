// What contributors meet first is well-formed, and names the same Node as the project.
import { parse } from 'yaml';
import { filesIn, read } from '../support/files.ts';

const FORMS = filesIn('.github/ISSUE_TEMPLATE', /\.yml$/);
const manifest = JSON.parse(read('package.json'));

test('every workspace has the version of the project', () => {
  const manifests = manifest.workspaces.flatMap((each: string) =>
    filesIn(each.replace('/*', ''), /^package\.json$/),
  );
  expect(manifests).toContain('extensions/site/package.json');
  const versions = manifests.map((file: string) => JSON.parse(read(file)).version);
  expect(new Set(versions)).toEqual(new Set([manifest.version]));
  expect(read('CHANGELOG.md')).toContain(manifest.version);
});

test('the workflow runs .ci/run on the oldest Node that package.json supports', () => {
  const oldest = read('.nvmrc').trim();
  expect(manifest.engines.node).toBe(`>=${oldest}.0`);
  const { jobs, permissions, on } = parse(read('.github/workflows/ci.yml'));
  expect(permissions).toEqual({ contents: 'read' });
  expect(Object.keys(on)).toEqual(['push', 'pull_request']);
  expect(jobs.run.container).toBe(`node:${oldest}-bookworm`);
  expect(jobs.run.steps.at(-1)).toEqual({ run: '.ci/run' });
  expect(JSON.parse(read('.github/renovate.json')).constraints).toEqual({ node: `${oldest}.0` });
});

test.each(FORMS)('%s is an issue form: each question has a label and an ID of its own', (path) => {
  const { name, description, body } = parse(read(path));
  expect([name, description]).toEqual([expect.any(String), expect.any(String)]);
  const questions = body.filter(({ type }: { type: string }) => type !== 'markdown');
  for (const { type, id, attributes } of questions) {
    expect(['textarea', 'input', 'dropdown', 'checkboxes']).toContain(type);
    expect([id, attributes.label]).toEqual([expect.any(String), expect.any(String)]);
  }
  expect(new Set(questions.map(({ id }: { id: string }) => id)).size).toBe(questions.length);
});
