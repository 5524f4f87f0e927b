// Load by wrk: as fast as the target answers, every request about a random member.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { placed } from '../machine.ts';
import { NUMBER } from '../population.ts';
import type { Load, LoadResult } from './load.ts';

/** Runs wrk to its end. Rejects where a request failed or was refused. */
export async function wrk({
  texts,
  url,
  members,
  seconds,
  connections,
  place,
}: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'));
  try {
    const script = join(folder, 'lookups.lua');
    writeFileSync(script, lua(texts, members));
    const args = [
      '-t1',
      `-c${connections}`,
      `-d${seconds}s`,
      '--timeout',
      '10s',
      '-s',
      script,
      new URL(url).origin,
    ];
    const run = placed(place, 'wrk', args);
    const { stdout } = await promisify(execFile)(run.command, run.args);
    const [requests = 0, micros = 1, p50 = 0, p99 = 0, failed = 0] =
      /^RESULT (.*)$/m.exec(stdout)?.[1]?.split(' ').map(Number) ?? [];
    if (failed > 0 || requests === 0)
      throw new Error(`wrk counts ${failed} failed of ${requests} requests: ${stdout}`);
    return { requests, seconds: micros / 1e6, p50Ms: p50 / 1e3, p99Ms: p99 / 1e3 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// A text is split where members' numbers go; each request takes the next key and, for each place, a pseudo-random member.
function lua(texts: string[], members: number): string {
  const split = texts.map((text) => `{${text.split(NUMBER).map(quote).join(', ')}}`);
  return `
local texts = {${split.join(', ')}}
local key, last = 0, ${members - 1}
local format, random = string.format, math.random
request = function()
  key = key % #texts + 1
  local parts = texts[key]
  local text = parts[1]
  for i = 2, #parts do
    text = text .. format('%0${NUMBER.length}d', random(0, last)) .. parts[i]
  end
  return text
end
done = function(summary, latency)
  local e = summary.errors
  io.write(format('RESULT %d %d %d %d %d\\n', summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n')}"`;
}
