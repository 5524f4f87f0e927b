// The schema that a credential opens: by introspection with a key, as a file with a token.
import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
} from 'graphql';
import type { Credential } from './credential.ts';
import { type Answer, send } from './send.ts';

export type Loaded = { answer: Answer; schema: GraphQLSchema | undefined };

const INTROSPECTION = {
  query: getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true }),
};
// Tokens cannot introspect. This asks whether the token is valid.
const PROBE = { query: '{ __typename }' };

/** Without a schema if the credential is refused. Rejects if no answer comes. */
export async function loadSchema(credential: Credential, memberSchema: string): Promise<Loaded> {
  if (credential.kind === 'partner') {
    const answer = await send(INTROSPECTION, credential);
    return { answer, schema: answer.status === 200 ? schemaIn(answer.body.data) : undefined };
  }
  const answer = await send(PROBE, credential);
  if (answer.status !== 200) return { answer, schema: undefined };
  const response = await fetch(memberSchema, { credentials: 'omit' });
  return { answer, schema: buildSchema(await response.text()) };
}

function schemaIn(introspection: unknown): GraphQLSchema {
  // Cast: buildClientSchema throws if it is something else.
  return buildClientSchema(introspection as IntrospectionQuery);
}
