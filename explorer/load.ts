// The schema that a credential opens: by introspection with a key, as a file with a token.
import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
} from 'graphql';
import type { Credential } from './credential.ts';
import { send, type TimedResponse } from './send.ts';

export type Loaded = { response: TimedResponse; schema: GraphQLSchema | undefined };

const INTROSPECTION = {
  query: getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true }),
};
// Tokens cannot introspect. This asks whether the token is valid.
const PROBE = { query: '{ __typename }' };

/** Without a schema if the credential is refused. Rejects if no response comes. */
export async function loadSchema(credential: Credential, memberSchema: string): Promise<Loaded> {
  if (credential.kind === 'partner') {
    const response = await send(INTROSPECTION, credential);
    return { response, schema: response.status === 200 ? schemaIn(response.body.data) : undefined };
  }
  const response = await send(PROBE, credential);
  if (response.status !== 200) return { response, schema: undefined };
  const file = await fetch(memberSchema, { credentials: 'omit' });
  return { response, schema: buildSchema(await file.text()) };
}

function schemaIn(introspection: unknown): GraphQLSchema {
  // Cast: buildClientSchema throws if it is something else.
  return buildClientSchema(introspection as IntrospectionQuery);
}
