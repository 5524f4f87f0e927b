// The tools at /mcp: their descriptions, schemas, and the operations that they run.
import type { GraphqlBody } from '@partner-loyalty/gateway/edge/body.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import * as z from 'zod';

const MEMBER_FIELDS = 'memberId email firstName lastName tier points externalId enrolledAt';

const text = (description: string) => z.string().describe(description);

const FIND_MEMBER = z
  .strictObject({
    email: text(
      'A current or former email address of the member, in upper or lower case.',
    ).optional(),
    externalId: text('The ID that the partner gave the member at enrollment.').optional(),
    memberId: text('The ID of the member, which never changes.').optional(),
  })
  // Exactly one; several hosts refuse a `oneOf` here.
  .meta({ minProperties: 1, maxProperties: 1 });

const MEMBER_STANDING = z.strictObject({ memberId: text('The ID of the member.') });

const MEMBER = z.object({
  memberId: text('The stable ID of the member: keep this one.'),
  email: text('The primary email address.'),
  firstName: text('The first name.').nullable(),
  lastName: text('The last name.').nullable(),
  tier: text('The tier held.'),
  points: z.int().describe('The points of the current membership year.'),
  externalId: text("The partner's own ID for the member.").nullable(),
  enrolledAt: text('When the member was enrolled with the partner (RFC 3339, UTC).').nullable(),
});

const YEAR_STANDING = z.object({
  tier: text('The tier that the points of this year alone reached.'),
  points: z.int().describe('The points of the year.'),
  stays: z.int().describe('The stays of the year.'),
  yearStart: text('When the year began (RFC 3339, UTC).'),
  yearEnd: text('When the year ended.'),
});

const STANDING = z.object({
  partnerId: text('The ID of the partner.'),
  partnerName: text('The name of the partner.'),
  tier: text('The tier held.'),
  tierFrom: text('When the year began whose points earned the tier (RFC 3339, UTC).'),
  tierValidUntil: text('When the tier ends, unless it is earned again.'),
  points: z.int().describe('The points of the year.'),
  stays: z.int().describe('The stays of the year.'),
  nextTier: text('The next tier; null at the top.').nullable(),
  pointsToNextTier: z.int().nullable().describe('The points still needed for it.'),
  yearStart: text('When the membership year began (RFC 3339, UTC).'),
  yearEnd: text('When the next membership year begins.'),
  previousYear: YEAR_STANDING.nullable().describe('The year before; null without activity in it.'),
  asOf: text('When the standing was read.'),
});

const LIST_CHANGES = z.strictObject({
  first: z.int().describe('How many events, from 1 to 500; 100 by default.').optional(),
  after: text('The endCursor of an earlier call, to go on from there.').optional(),
  types: z
    .array(z.string())
    .describe('Only events of these types, such as TIER_CHANGED: see EventType in the schema.')
    .optional(),
});

const EVENT = z.object({
  id: text('The ID of the event, which never changes.'),
  type: text('What happened, such as MEMBER_ENROLLED.'),
  occurredAt: text('When the change was made or recorded (RFC 3339, UTC).'),
  memberId: text('The ID of the member; null if the event is of no single one.').nullable(),
  externalId: text("The partner's own ID for the member.").nullable(),
  mergedMemberId: text('The ID of the member who was merged into this one.').nullable(),
  tierBefore: text('The tier before the change.').nullable(),
  tierAfter: text('The tier after the change.').nullable(),
  points: z.int().nullable().describe('The points of the activity, not the balance.'),
  activityId: text("The partner's own ID for the activity.").nullable(),
});

const CHANGES = z.object({
  edges: z.array(z.object({ node: EVENT })).describe('The events, oldest first.'),
  pageInfo: z.object({
    hasNextPage: z.boolean().describe('Whether there are more events.'),
    endCursor: text('What `after` takes to go on.').nullable(),
  }),
});

const SDL = z.object({ sdl: text('The schema in the GraphQL schema definition language.') });

const ERROR = z.object({
  code: text('Only with isError: the code, such as MEMBER_NOT_FOUND.'),
  message: text('Only with isError: what went wrong.'),
  requestId: text('Only with isError: the ID of the request, for support.'),
  argument: text('Only with isError: the argument at fault.').optional(),
  retryAfter: z.int().describe('Only with isError: in how many seconds to try again.').optional(),
});

const memberBy = (field: string, argument: string, type: string) =>
  `query McpFindMember($${argument}: ${type}) { member: ${field}(${argument}: $${argument}) { ${MEMBER_FIELDS} } }`;
const FIND_BY = {
  email: memberBy('memberByEmail', 'email', 'String!'),
  externalId: memberBy('memberByExternalId', 'externalId', 'String!'),
  memberId: memberBy('memberById', 'memberId', 'ID!'),
} as const;
const FIND_KINDS = ['email', 'externalId', 'memberId'] as const;
const fieldsOf = (type: z.ZodObject) => Object.keys(type.shape).join(' ');
/** The member ID is there for the audit log. */
const STANDING_OF = `query McpMemberStanding($memberId: ID!) { member: memberById(memberId: $memberId) { memberId standing { ${fieldsOf(STANDING.omit({ previousYear: true }))} previousYear { ${fieldsOf(YEAR_STANDING)} } } } }`;
const CHANGES_AFTER = `query McpListChanges($first: Int, $after: String, $types: [EventType!]) { member: events(first: $first, after: $after, types: $types) { edges { node { ${fieldsOf(EVENT)} } } pageInfo { hasNextPage endCursor } } }`;
/** Needs the scope of introspection; the schema itself is printed, not built from the response. */
const INTROSPECTION = 'query McpDescribeSchema { member: __schema { queryType { name } } }';

type Data = Record<string, unknown>;

export type Tool = {
  title: string;
  description: string;
  input: z.ZodObject;
  output: z.ZodObject;
  /** The operation of a call; `args` fit the input schema. Throws BAD_USER_INPUT. */
  operation(args: Data): GraphqlBody;
  /**
   * The result, from what the operation found as `member`, or null if there is an error instead;
   * `sdl` is the caller's schema.
   */
  result(member: Data, sdl: () => string): Data | null;
};

const TOOLS: ReadonlyMap<string, Tool> = new Map(
  Object.entries<Tool>({
    find_member: {
      title: 'Find a member',
      description:
        'Finds a member who is enrolled with this partner, by exactly one of: a current or former ' +
        'email address, the external ID that the partner gave, or the member ID.',
      input: FIND_MEMBER,
      output: MEMBER,
      operation: findMember,
      result: (member) => member,
    },
    member_standing: {
      title: 'Get the standing of a member',
      description:
        'The tier that a member holds with this partner and until when, the points and stays of ' +
        'this membership year and the one before, and the points needed for the next tier.',
      input: MEMBER_STANDING,
      output: STANDING,
      operation: (variables) => ({ query: STANDING_OF, variables }),
      // Cast: the schema has an object there, or null with an error.
      result: ({ standing }) => standing as Data | null,
    },
    list_changes: {
      title: 'List changes',
      description:
        'What changed for this partner, oldest first: members who enrolled, left or changed, points ' +
        'and tiers. It names nobody: find_member shows the member of an event.',
      input: LIST_CHANGES,
      output: CHANGES,
      operation: (variables) => ({ query: CHANGES_AFTER, variables }),
      result: (changes) => changes,
    },
    describe_schema: {
      title: 'Describe the schema',
      description: 'The part of the GraphQL schema of the partner API that this key may use.',
      input: z.strictObject({}),
      output: SDL,
      operation: () => ({ query: INTROSPECTION, variables: {} }),
      result: (_, sdl) => ({ sdl: sdl() }),
    },
  }),
);

export function toolNamed(name: string): Tool | undefined {
  return TOOLS.get(name);
}

function findMember(args: Data): GraphqlBody {
  const given = FIND_KINDS.filter((kind) => args[kind] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1)
    return fail('BAD_USER_INPUT', `give exactly one of ${FIND_KINDS.join(', ')}`);
  return { query: FIND_BY[kind], variables: { [kind]: args[kind] } };
}

/** The tools as `tools/list` shows them, to every key alike. */
export const TOOL_LIST = Array.from(TOOLS, ([name, tool]) => ({
  name,
  title: tool.title,
  description: tool.description,
  inputSchema: schemaOf(tool.input),
  outputSchema: outputSchemaOf(tool.output),
  annotations: {
    title: tool.title,
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
}));

type ObjectSchema = { type: 'object' } & Record<string, unknown>;

/** Without `$schema`: it names the protocol's default dialect, which some clients do not know. */
function schemaOf(type: z.ZodObject): ObjectSchema {
  const { $schema, ...schema } = z.toJSONSchema(type);
  return { ...schema, type: 'object' };
}

/** The schema of a result or an error: the protocol requires errors to fit the schema too. */
function outputSchemaOf(type: z.ZodObject): ObjectSchema {
  const [result, error] = [z.toJSONSchema(type), z.toJSONSchema(ERROR)];
  return {
    type: 'object',
    properties: { ...result.properties, ...error.properties },
    anyOf: [{ required: result.required }, { required: error.required }],
  };
}
