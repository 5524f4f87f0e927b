// Runs autocannon with a load as load.ts describes it, and prints what came of it as JSON.
import autocannon from 'autocannon';

const { url, texts, members, seconds, connections } = JSON.parse(process.argv[2]);

// autocannon builds requests itself, with host and length: it gets the other headers of each text, and its body with a member's number.
const BUILT = ['host', 'content-length'];
const requests = texts.map((text) => {
  const [head, body] = text.split('\r\n\r\n');
  const [, ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => line.split(': ')).filter(([name]) => !BUILT.includes(name)),
  );
  const number = () => String(Math.floor(Math.random() * members)).padStart(7, '0');
  return {
    method: 'POST',
    path: new URL(url).pathname,
    headers,
    setupRequest: (one) => ({ ...one, body: body.replaceAll('#######', number) }),
  };
});

const result = await autocannon({ url, requests, duration: seconds, connections, timeout: 10 });
const failed = result.errors + result.timeouts + result.non2xx;
const { p50, p99 } = result.latency;
console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    p50Ms: p50,
    p99Ms: p99,
    failed,
  }),
);
