// Starts the service as a new user does, runs the curl command that it prints, compares the
// response with the README's, and stops the service with SIGTERM.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const dataDir = mkdtempSync(join(tmpdir(), 'start-'));
const began = performance.now();
// Its own process group shows whether any process is left over.
const npm = spawn('npm', ['start'], {
  env: { ...process.env, DATA_DIR: dataDir, PORT: '0' },
  detached: true,
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const curl = await printedCurl();
  console.log(`ready in ${Math.round(performance.now() - began)} ms`);
  console.log(curl);
  const response = execFileSync('bash', ['-c', curl], { encoding: 'utf8' });
  console.log(response);
  assert.deepEqual(JSON.parse(response), expectedResponse());
  npm.kill('SIGTERM');
  const [code, signal] = await once(npm, 'exit');
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  assert.deepEqual(group(), [], 'processes are left over');
} finally {
  if (group().length > 0) process.kill(-npm.pid, 'SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
}

function printedCurl() {
  let printed = '';
  return new Promise((resolve, reject) => {
    npm.stdout.setEncoding('utf8').on('data', (part) => {
      printed += part;
      const found = /^\s*(curl .*)\n/m.exec(printed);
      if (found) resolve(found[1]);
    });
    npm.on('exit', () => reject(new Error(`it printed no curl command: ${printed}`)));
  });
}

/** The response in the README: its first block of JSON with data. */
function expectedResponse() {
  const found = /^```json\n(\{"data".*?)^```/ms.exec(
    readFileSync(new URL('../README.md', import.meta.url), 'utf8'),
  );
  return JSON.parse(found?.[1] ?? 'null');
}

function group() {
  try {
    return execFileSync('pgrep', ['-g', String(npm.pid), '-a'], { encoding: 'utf8' })
      .trim()
      .split('\n');
  } catch {
    return []; // pgrep found no process
  }
}
