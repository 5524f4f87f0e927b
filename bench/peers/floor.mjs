// The floor: plain node:http and two sequential calls over undici, without GraphQL in between.
// Run as: node floor.mjs '{"port":…,"members":"URL","standings":"URL"}'
import { createServer } from 'node:http';
import { Pool } from 'undici';

const { port, members, standings } = JSON.parse(process.argv[2]);
const MEMBER =
  'query($email:String!){memberByEmail(email:$email){__typename memberId email firstName lastName}}';
const STANDING =
  'query($representations:[_Any!]!){_entities(representations:$representations){...on PartnerMemberRead{tier points}}}';

const pool = (url) => new Pool(new URL(url).origin, { connections: 32, pipelining: 1 });
const membersPool = pool(members);
const standingsPool = pool(standings);

async function ask(pool, query, variables) {
  const body = JSON.stringify({ query, variables });
  const reply = await pool.request({
    path: '/graphql',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return (await reply.body.json()).data;
}

async function answer(body) {
  const { variables } = JSON.parse(body);
  const { memberByEmail } = await ask(membersPool, MEMBER, { email: variables.email });
  const { __typename, ...member } = memberByEmail;
  const { _entities } = await ask(standingsPool, STANDING, {
    representations: [{ __typename, memberId: member.memberId }],
  });
  return JSON.stringify({ data: { memberByEmail: { ...member, ..._entities[0] } } });
}

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', async () => {
    const text = await answer(body);
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      })
      .end(text);
  });
}).listen(port, '127.0.0.1');
