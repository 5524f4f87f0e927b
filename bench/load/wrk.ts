// Load by wrk: each request is about a random member, or the next one of a list.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PLACEHOLDER } from '../dataset/population.ts';
import { type CoreSet, pinned } from '../machine/machine.ts';

/** Runs wrk. Rejects if a request fails or its status is an error. */
export async function wrk(load: Load | ListLoad): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'));
  try {
    const script = join(folder, 'lookups.lua');
    writeFileSync(script, `${requestOf(load)}${DONE}`);
    const { command, args } = pinned(load.cores, 'wrk', [
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

const DONE = `
done = function(summary, latency)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  local p50, p99 = latency:percentile(50), latency:percentile(99)
  io.write(string.format('RESULT %d %d %d %d %d\\n',
    summary.requests, summary.duration, p50, p99, failed))
end
`;

function requestOf(load: Load | ListLoad): string {
  return 'list' in load ? listLua(load) : templatesLua(load);
}

// Templates are split at their placeholders, and each request fills in pseudo-random numbers.
function templatesLua({ templates, members }: Load): string {
  const split = templates.map((text) => `{${text.split(PLACEHOLDER).map(quoted).join(', ')}}`);
  return `
local templates = {${split.join(', ')}}
local sent, last = 0, ${members - 1}
local format, random = string.format, math.random
request = function()
  sent = sent % #templates + 1
  local parts = templates[sent]
  local text = parts[1]
  for i = 2, #parts do
    text = text .. format('%0${PLACEHOLDER.length}d', random(0, last)) .. parts[i]
  end
  return text
end
`;
}

// Each load begins elsewhere in the list, so that a slow server's short loads are not all the same.
// A placeholder in a request gets a number that no request of this run had before.
function listLua({ list }: ListLoad): string {
  return `
local requests, made = {}, os.time() % 1000 * 10000
local file = io.open(${quoted(list)}, 'rb')
for length in function() return file:read('*l') end do
  local text = file:read(tonumber(length))
  local at = text:find('${PLACEHOLDER}', 1, true)
  requests[#requests + 1] = at and
    { text:sub(1, at - 1), text:sub(at + ${PLACEHOLDER.length}) } or text
end
file:close()
local sent = os.time() * 7919 % #requests
request = function()
  sent = sent % #requests + 1
  local next = requests[sent]
  if type(next) == 'string' then return next end
  made = (made + 1) % 10000000
  return next[1] .. string.format('%0${PLACEHOLDER.length}d', made) .. next[2]
end
`;
}

function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

type Connections = {
  url: string;
  seconds: number;
  connections: number;
  /** Where the generator runs. */
  cores: CoreSet;
};

export type Load = Connections & {
  /** Request templates, sent in rotation. */
  templates: string[];
  /** How many members to ask about. */
  members: number;
};

/** Requests of a file (dataset/mix.ts) in its order, again and again. */
export type ListLoad = Connections & { list: string };

export type LoadResult = { requests: number; seconds: number; p50Ms: number; p99Ms: number };
