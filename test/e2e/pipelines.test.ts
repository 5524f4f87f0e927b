// The pipelines in examples/: their commands run against a service, with the token of a team.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { read } from '../support/files.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type PlainSubgraph, startSubgraph } from '../support/graphs/graph.ts';
import { programArgs } from '../support/programs/programs.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { bareEnv, type Env, loyaltyJson, type Ran } from '../support/service/loyalty.ts';

const schemaWith = (field: string) => `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])
type PartnerMemberRead @key(fields: "memberId") {
  memberId: ID!
  ${field}: String @tag(name: "partner")
}
`;
const PACKAGE = './partner-loyalty-cli-0.9.0.tgz';

type Step = { uses?: string; with?: object; run?: string; env?: Env };
type GitHubJob = { if: string; 'runs-on': string; steps: Step[] };
type GitLabJob = { extends: string; stage: string; rules: { if: string }[]; script: string[] };

const github = parse(read('examples/github/subgraph.yml'));
const gitlab = parse(read('examples/gitlab/subgraph.yml'));

const folder = temporaryFolder();
const bin = join(folder.path, 'bin');
const repository = join(folder.path, 'offers');
let service: InProcessService;
let subgraph: PlainSubgraph;

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd: repository,
    encoding: 'utf8',
  }).trim();

beforeAll(async () => {
  service = await startInProcess();
  subgraph = await startSubgraph(schemaWith('title'));
  mkdirSync(bin);
  mkdirSync(repository);
  git('init', '--quiet');
  // bin/package.languages.test.ts installs the package.
  const installed = join(bin, 'installed');
  const command = `#!/bin/sh\n[ -e ${installed} ] && exec ${[process.execPath, ...programArgs('bin/loyalty.ts')].join(' ')} "$@"\n`;
  writeFileSync(join(bin, 'loyalty'), command, { mode: 0o755 });
  const install = `#!/bin/sh\n[ "$*" = 'install --global ${PACKAGE}' ] && : >${installed}\n`;
  writeFileSync(join(bin, 'npm'), install, { mode: 0o755 });
});
afterAll(async () => {
  await service.close();
  subgraph.close();
  folder.remove();
});

function commit(field: string, subject: string): string {
  writeFileSync(join(repository, 'schema.graphql'), schemaWith(field));
  git('add', 'schema.graphql');
  git('commit', '--quiet', '-m', `${subject}\n\nA body of two\nlines, "quoted".`);
  return git('rev-parse', 'HEAD');
}

/** The project's secret and variables. */
async function projectVariables(): Promise<Env> {
  const store = { DATA_DIR: service.dataDir };
  const create = ['supergraph', 'token', 'create', 'offers', '--owner', 'offers-team'];
  const [{ token } = {}] = await loyaltyJson(store, ...create);
  return {
    LOYALTY_SUBGRAPH_TOKEN: String(token),
    LOYALTY_REGISTRY: service.url,
    LOYALTY_CLI: PACKAGE,
    OFFERS_URL: subgraph.url,
  };
}

/** As a runner does: bash, which stops at the first command that fails. */
async function runScript(script: string, env: Env): Promise<Ran> {
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: repository,
    env: { ...bareEnv(), ...env, PATH: `${bin}:${process.env.PATH}` },
  });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

/** Runs the steps of a job up to the first that fails, each with its own variables. */
async function onGitHub(name: string, project: Env): Promise<Ran> {
  const { steps }: GitHubJob = github.jobs[name];
  const GITHUB_SHA = git('rev-parse', 'HEAD');
  let last: Ran = { code: 0, stdout: '', stderr: '' };
  for (const { run, env = {} } of steps) {
    if (run === undefined || last.code !== 0) continue;
    const given = Object.entries(env).map(([variable, value]) => {
      const [, source = ''] = /^\$\{\{ (?:vars|secrets)\.(\w+) \}\}$/.exec(value) ?? [];
      return [variable, project[source] ?? ''];
    });
    last = await runScript(run, { GITHUB_SHA, ...Object.fromEntries(given) });
  }
  return last;
}

async function onGitLab(name: string, project: Env): Promise<Ran> {
  const { extends: base, script }: GitLabJob = gitlab[name];
  const all: string[] = [...gitlab[base].before_script, ...script];
  const ofCommit = {
    CI_COMMIT_SHA: git('rev-parse', 'HEAD'),
    CI_COMMIT_TITLE: git('log', '-1', '--format=%s'),
  };
  return runScript(all.join('\n'), { ...project, ...ofCommit });
}

test('the workflow checks pull requests and publishes after merges, with no more rights than it needs', () => {
  expect(Object.keys(github)).toEqual(['name', 'on', 'permissions', 'jobs']);
  expect(github.on).toEqual({ pull_request: null, push: { branches: ['main'] } });
  expect(github.permissions).toEqual({ contents: 'read' });
  const jobs: [string, GitHubJob][] = Object.entries(github.jobs);
  expect(jobs.map(([name, job]) => [name, job.if.split(' && ')[0]])).toEqual([
    ['check', "github.event_name == 'pull_request'"],
    ['publish', "github.event_name == 'push'"],
  ]);
  for (const [, { 'runs-on': runner, steps }] of jobs) {
    expect(runner).toBe('ubuntu-latest');
    for (const { uses, run = '', env = {} } of steps) {
      if (uses !== undefined) expect(uses).toMatch(/^actions\/(checkout|setup-node)@v\d+$/);
      // A script would run what stands in an expression.
      expect(run).not.toContain('${{');
      // What is installed cannot read the token.
      expect('LOYALTY_SUBGRAPH_TOKEN' in env).toBe(/^loyalty /.test(run));
    }
  }
});

test.each([
  ['the workflow of GitHub', onGitHub, 'check', 'publish', 'starts'],
  ['the jobs of GitLab', onGitLab, 'check-subgraph', 'publish-subgraph', 'ends'],
])('%s: a check passes or fails, and a merge becomes a version', async (...cases) => {
  const [, run, check, publish, field] = cases;
  const project = await projectVariables();
  await loyaltyJson(project, 'supergraph', 'secret', 'rotate', 'offers');
  subgraph.serve(schemaWith(field));

  commit('tier', `offers: ${field} instead of tier`);
  expect(await run(check, project)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('PartnerMemberRead.tier'),
  });
  const sha = commit(field, `offers: say when it ${field}`);
  expect(await run(check, project)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`PartnerMemberRead.${field}`),
  });
  expect(await run(publish, project)).toMatchObject({ code: 0 });
  const [newest] = await loyaltyJson(project, 'supergraph', 'list');
  expect(newest).toMatchObject({
    change: 'publish offers',
    owner: 'offers-team',
    commit: sha,
    message: `offers: say when it ${field}`,
  });
  // A pipeline that runs again publishes nothing.
  expect(await run(publish, project)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('unchanged'),
  });
});
