// Load by wrk: requests of a list in its order, again and again.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PLACEHOLDER } from '../dataset/population.ts';
import { pinned } from '../machine/machine.ts';

/** The requests of a load. */
export type Requests = {
  /** The text of each, perhaps with placeholders. */
  templates: string[];
  /** Placeholders get different numbers below this. */
  members: number;
};

export type Load = Requests & { url: string; seconds: number; connections: number };

export type LoadResult = { requests: number; seconds: number; p50Ms: number; p99Ms: number };

/** Runs wrk. Rejects if a request fails or its status is an error. */
export async function wrk(load: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'));
  try {
    const [list, script] = [join(folder, 'requests'), join(folder, 'requests.lua')];
    writeFileSync(list, load.templates.join('\u0001'), 'latin1');
    writeFileSync(script, luaOf(list, load.members));
    const { command, args } = pinned('load', 'wrk', [
      '-t1',
      `-c${load.connections}`,
      `-d${load.seconds}s`,
      '--timeout',
      '10s',
      '-s',
      script,
      new URL(load.url).origin,
    ]);
    const { stdout } = await promisify(execFile)(command, args);
    return resultOf(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function resultOf(stdout: string): LoadResult {
  const [requests = 0, micros = 1, p50 = 0, p99 = 0, failed = 0] =
    /^RESULT (.*)$/m.exec(stdout)?.[1]?.split(' ').map(Number) ?? [];
  if (failed > 0 || requests === 0)
    throw new Error(`wrk reports ${failed} of ${requests} requests as failed: ${stdout}`);
  return { requests, seconds: micros / 1e6, p50Ms: p50 / 1e3, p99Ms: p99 / 1e3 };
}

// Each load begins elsewhere, so that a slow server's short loads are not all the same. The step
// between numbers has no factor in common with how many there are: none repeats before all have
// come, and loads that begin seconds apart have different ones.
function luaOf(list: string, members: number): string {
  return `
local templates = {}
for text in io.open('${list}', 'rb'):read('*a'):gmatch('[^\\1]+') do
  local parts = {}
  for part in (text .. '${PLACEHOLDER}'):gmatch('(.-)${PLACEHOLDER}') do
    parts[#parts + 1] = part
  end
  templates[#templates + 1] = parts
end
local sent, made = os.time() * 7919 % #templates, os.time() % 1000 * 10000
request = function()
  sent = sent % #templates + 1
  local parts = templates[sent]
  local text = parts[1]
  for i = 2, #parts do
    made = made + 1
    text = text .. string.format('%0${PLACEHOLDER.length}d', made * 7368787 % ${members}) .. parts[i]
  end
  return text
end
done = function(summary, latency)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  local p50, p99 = latency:percentile(50), latency:percentile(99)
  io.write(string.format('RESULT %d %d %d %d %d\\n',
    summary.requests, summary.duration, p50, p99, failed))
end
`;
}
