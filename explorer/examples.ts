// The operations that the explorer offers to begin with.
import { type GraphQLSchema, parse, validate } from 'graphql';
import type { Credential } from './credential.ts';

export type Example = { title: string; query: string; variables: Record<string, unknown> };

const EMAIL = 'Teal.Heron@example.com';

const PARTNER: Example[] = [
  {
    title: 'A member by email',
    query: `query MemberByEmail($email: String!) {
  memberByEmail(email: $email) {
    memberId
    email
    firstName
    lastName
    tier
    points
  }
}`,
    variables: { email: EMAIL },
  },
  {
    title: 'Standing and activities',
    query: `query Standing($email: String!, $first: Int = 5) {
  memberByEmail(email: $email) {
    standing {
      partnerName
      tier
      tierValidUntil
      points
      nextTier
      pointsToNextTier
      yearEnd
      previousYear {
        tier
        points
      }
    }
    activities(first: $first) {
      edges {
        node {
          occurredAt
          points
          stays
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`,
    variables: { email: EMAIL },
  },
  {
    title: 'Many members at once',
    query: `query Lookups($keys: [MemberKey!]!) {
  memberLookups(keys: $keys) {
    status
    member {
      memberId
      tier
      points
    }
  }
}`,
    variables: { keys: [{ email: EMAIL }, { externalId: 'nobody-has-this' }] },
  },
  {
    title: 'Your tiers',
    query: `query Program {
  program {
    membershipYearStart
    timeZone
    tierValidity
    tiers {
      name
      points
    }
  }
}`,
    variables: {},
  },
  {
    title: 'Members who changed',
    query: `query Members($updatedSince: DateTime, $after: String, $first: Int = 20) {
  members(updatedSince: $updatedSince, after: $after, first: $first, status: null) {
    edges {
      memberId
      status
      updatedAt
      node {
        tier
        points
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`,
    variables: { updatedSince: '2026-01-01T00:00:00Z' },
  },
  {
    title: 'Enroll a member',
    query: `mutation Enroll($input: EnrollMemberInput!) {
  enrollMember(input: $input) {
    created
    member {
      memberId
      tier
      points
    }
  }
}`,
    variables: { input: { email: 'ada@example.com', externalId: '4711', firstName: 'Ada' } },
  },
  {
    title: 'Mail a sign-in link',
    query: `mutation SignIn($email: String!) {
  requestMagicLink(email: $email) {
    accepted
  }
}`,
    variables: { email: EMAIL },
  },
];

const memberExamples = (id: string): Example[] => [
  {
    title: 'Your profile',
    query: `query Profile($id: ID!) {
  memberProfile(id: $id) {
    memberId
    email
    firstName
    lastName
    membershipYearStats {
      akinPoints
      totalStays
    }
    partnerStandings {
      partnerId
      tier
      points
    }
  }
}`,
    variables: { id },
  },
  {
    title: 'Standings and activities',
    query: `query Standings($id: ID!) {
  memberProfile(id: $id) {
    standings {
      partnerName
      tier
      tierValidUntil
      points
      nextTier
      pointsToNextTier
    }
    activities(first: 5) {
      edges {
        node {
          partnerId
          occurredAt
          points
        }
      }
    }
  }
}`,
    variables: { id },
  },
];

/** Those that fit the schema, which may have changed since they were written. */
export function examplesFor(
  kind: Credential['kind'],
  memberId: string,
  schema: GraphQLSchema | undefined,
): Example[] {
  const examples = kind === 'partner' ? PARTNER : memberExamples(memberId);
  return examples.filter(
    ({ query }) => schema === undefined || validate(schema, parse(query)).length === 0,
  );
}
