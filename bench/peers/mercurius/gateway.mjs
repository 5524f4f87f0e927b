// Mercurius' gateway with its JIT. It knows Federation 1 only, so it gets the schemas in that.
// Run as: node gateway.mjs '{"port":…,"members":"URL","standings":"URL"}', or with the services of
// another graph: '{"port":…,"services":[{"name":…,"url":…,"schema":…}]}'
import mercuriusGateway from '@mercuriusjs/gateway';
import Fastify from 'fastify';

const { port, members, standings, services } = JSON.parse(process.argv[2]);

const MEMBERS = `
  type Query {
    memberByEmail(email: String!): PartnerMemberRead
    memberByExternalId(externalId: String!): PartnerMemberRead
  }
  type PartnerMemberRead @key(fields: "memberId") { memberId: ID! email: String! firstName: String lastName: String }
`;
const STANDINGS = `
  extend type PartnerMemberRead @key(fields: "memberId") { memberId: ID! @external tier: String! points: Int! }
`;

const app = Fastify();
app.register(mercuriusGateway, {
  jit: 1,
  gateway: {
    services: services ?? [
      { name: 'members', url: members, schema: MEMBERS, mandatory: true },
      { name: 'standings', url: standings, schema: STANDINGS, mandatory: true },
    ],
  },
});
await app.listen({ port, host: '127.0.0.1' });
