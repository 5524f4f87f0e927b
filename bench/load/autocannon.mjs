// Runs autocannon with the load that autocannon.ts passes as JSON, and prints the result as JSON.
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

const { url, templates, members, list, seconds, connections } = JSON.parse(process.argv[2]);

// autocannon adds host and content-length itself, so they are left out of the template's headers.
const ADDED = ['host', 'content-length'];
const MAX_NUMBER = 10_000_000;
const requests = (list === undefined ? templates : listed(list)).map((template) => {
  const [head, body] = template.split('\r\n\r\n');
  const [, ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => line.split(': ')).filter(([name]) => !ADDED.includes(name)),
  );
  const number = () => String(Math.floor(Math.random() * (members ?? MAX_NUMBER))).padStart(7, '0');
  return {
    method: 'POST',
    path: new URL(url).pathname,
    headers,
    setupRequest: (request) => ({ ...request, body: body.replaceAll('#######', number) }),
  };
});

const result = await autocannon({ url, requests, duration: seconds, connections, timeout: 10 });
const { p50, p99 } = result.latency;
console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    p50Ms: p50,
    p99Ms: p99,
    failed: result.errors + result.timeouts + result.non2xx,
  }),
);

function listed(file) {
  const text = readFileSync(file, 'latin1');
  const found = [];
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('\n', at) + 1;
    at = start + Number(text.slice(at, start));
    found.push(text.slice(start, at));
  }
  // Each load begins elsewhere, so that a slow server's short loads are not all the same.
  const first = Math.floor(Math.random() * found.length);
  return [...found.slice(first), ...found.slice(0, first)];
}
