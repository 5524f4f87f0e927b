// The floor: plain node:http that knows the five reads of the mix, and two calls over undici.
// Run as: node floor.mjs '{"port":…,"members":"URL","standings":"URL","reads":[…]}'
// A read has a name, the names of its look-ups in the answer, and the fields they select. A look-up
// without a name is the first one.
import { createServer } from 'node:http';
import { Pool } from 'undici';

const { port, members, standings, reads } = JSON.parse(process.argv[2]);
const STANDING =
  'query($representations:[_Any!]!){_entities(representations:$representations){...on PartnerMemberRead{tier points}}}';

const known = new Map(reads.map((read) => [read.name, prepared(read)]));
const pool = (url) => new Pool(new URL(url).origin, { connections: 32, pipelining: 1 });
const membersPool = pool(members);
const standingsPool = pool(standings);

// Look-ups have the same names in the answer as in the call to members, and their variables the
// order of the look-ups.
function prepared({ name, names, fields, variables }) {
  const own = fields.filter((field) => field !== 'tier' && field !== 'points');
  const wanted = new Set(['memberId', ...own]);
  const lookUps = names.map(
    (as, index) =>
      `${as}:memberByEmail(email:$${variables[index]}){__typename ${[...wanted].join(' ')}}`,
  );
  const declared = variables.map((variable) => `$${variable}:String!`).join(' ');
  const query = `query ${name}(${declared}){${lookUps.join(' ')}}`;
  return { query, names, fields, standing: own.length < fields.length };
}

async function ask(pool, query, variables) {
  const body = JSON.stringify({ query, variables });
  const reply = await pool.request({
    path: '/graphql',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return reply.body.json();
}

async function answer(body) {
  const { operationName = reads[0].name, variables } = JSON.parse(body);
  const { query, names, fields, standing } = known.get(operationName);
  const { data, errors } = await ask(membersPool, query, variables);
  const found = names.map((name) => data[name]).filter((member) => member !== null);
  if (standing && found.length > 0) {
    const representations = found.map(({ __typename, memberId }) => ({ __typename, memberId }));
    const { data } = await ask(standingsPool, STANDING, { representations });
    for (const [index, member] of found.entries()) Object.assign(member, data._entities[index]);
  }
  for (const name of names) data[name] = data[name] && pick(data[name], fields);
  return JSON.stringify(errors === undefined ? { data } : { data, errors });
}

function pick(member, fields) {
  const picked = {};
  for (const field of fields) picked[field] = member[field];
  return picked;
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
