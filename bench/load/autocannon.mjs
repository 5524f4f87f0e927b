// Runs autocannon with the load that autocannon.ts passes as JSON, and prints the result as JSON.
import autocannon from 'autocannon';

const { url, templates, members, seconds, connections } = JSON.parse(process.argv[2]);

// autocannon adds host and content-length itself, so they are left out of the template's headers.
const ADDED = ['host', 'content-length'];
const requests = templates.map((template) => {
  const [head, body] = template.split('\r\n\r\n');
  const [, ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => line.split(': ')).filter(([name]) => !ADDED.includes(name)),
  );
  const number = () => String(Math.floor(Math.random() * members)).padStart(7, '0');
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
