// The floor in process: plain node:http and two look-ups in maps, without GraphQL or calls.
// Run as: node floor.inprocess.mjs '{"port":…,"answers":"FILE"}'
// FILE contains a JSON array of the expected members.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { port, answers } = JSON.parse(process.argv[2]);
const members = new Map();
const standings = new Map();
for (const { tier, points, ...member } of JSON.parse(readFileSync(answers, 'utf8'))) {
  members.set(member.email, member);
  standings.set(member.memberId, { tier, points });
}

function answer(body) {
  const { variables } = JSON.parse(body);
  const member = members.get(variables.email);
  return JSON.stringify({
    data: { memberByEmail: { ...member, ...standings.get(member.memberId) } },
  });
}

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    const text = answer(body);
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      })
      .end(text);
  });
}).listen(port, '127.0.0.1');
