// The API's operations as functions. Each resolves with the result, or with the error's code.

import type { Engine } from '../engines.ts';
import type { ApiRequest } from './client.ts';
import { type InProcessService, startInProcess } from './inprocess.ts';
import type { PartnerId } from './testdata.ts';

export type Read = {
  memberId: string;
  email: string;
  firstName: string | null;
  lastName: string | null;
  tier: string;
  points: number;
};
export type Enrolled = Partial<Read> & { created?: boolean; code?: string };

const READ = '{ memberId email firstName lastName tier points }';
export const BY_EMAIL = `query ($email: String!) { read: memberByEmail(email: $email) ${READ} }`;
export const BY_EXTERNAL_ID = `query ($externalId: String!) { read: memberByExternalId(externalId: $externalId) ${READ} }`;
export const ENROLL = `mutation ($input: EnrollMemberInput!) { read: enrollMember(input: $input) { created member ${READ} } }`;
const END = 'mutation ($memberId: ID!) { read: endEnrollment(memberId: $memberId) { memberId } }';
export const PROFILE = `query ($id: ID!) { read: memberProfile(id: $id) {
  memberId email firstName lastName membershipYearStats { akinPoints totalStays } partnerStandings { partnerId tier points } } }`;

/** Noon in the middle of most membership years. */
export const NOON = new Date('2026-05-15T12:00:00Z');

export type Calls = ReturnType<typeof createCalls>;

/** Starts the service on an engine. Tests set its clock with `at.now`. */
export async function startWithCalls(engine: Engine = 'lmdb'): Promise<Calls> {
  const at = { now: NOON };
  return createCalls(
    await startInProcess({ engine, now: () => at.now, env: { RATE_LIMIT_BUDGET: '100000' } }),
    at,
  );
}

function createCalls(service: InProcessService, at: { now: Date }) {
  let count = 0;

  async function execute<T>(
    query: string,
    variables: Record<string, unknown>,
    as: Pick<ApiRequest, 'key' | 'token'> = {},
  ): Promise<T | string> {
    const { body, code } = await service.send({ query, variables, ...as });
    // Cast: the schema guarantees it if there is no error.
    return code ?? (body.data?.read as T);
  }

  const as = (partner: PartnerId) => ({ key: service.keys[partner] });

  return {
    service,
    at,
    execute,
    as,
    byEmail: (email: string, partner: PartnerId = 'alpha') =>
      execute<Read>(BY_EMAIL, { email }, as(partner)),
    byExternalId: (externalId: string, partner: PartnerId = 'alpha') =>
      execute<Read>(BY_EXTERNAL_ID, { externalId }, as(partner)),
    end: (memberId: string, partner: PartnerId = 'alpha') =>
      execute<{ memberId: string }>(END, { memberId }, as(partner)),
    async enroll(input: Record<string, unknown>, partner: PartnerId = 'alpha'): Promise<Enrolled> {
      const enrolled = await execute<{ created: boolean; member: Read }>(
        ENROLL,
        { input },
        as(partner),
      );
      return typeof enrolled === 'string'
        ? { code: enrolled }
        : { created: enrolled.created, ...enrolled.member };
    },
    /** A local part that no other test uses in an address. */
    freshName(): string {
      count += 1;
      return `fresh${count}`;
    },
  };
}

/** The member's id, or the code of the error. */
export function memberIdOf(read: Read | string): string {
  return typeof read === 'string' ? read : read.memberId;
}
