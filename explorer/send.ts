// Sends operations to the service, and loads the schema that a credential opens.
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
} from 'graphql';
import template from '../extensions/site/src/docs/languages/curl.txt';
import { filled } from '../extensions/site/src/docs/template.ts';
import { type Credential, credentialHeader } from './credential.ts';

export type Operation = {
  query: string;
  variables?: Record<string, unknown> | undefined;
  operationName?: string | undefined;
};

export type GraphqlError = {
  message?: string;
  extensions?: { code?: string; correctEndpoint?: string };
};

export type TimedResponse = {
  status: number;
  statusText: string;
  headers: Headers;
  milliseconds: number;
  /** Whether the request had a key or token. */
  hasCredential: boolean;
  body: { data?: unknown; errors?: GraphqlError[] };
};

/** Rejects if there is no response, or one that is not from this service. */
export async function send(
  operation: Operation,
  credential: Credential | undefined,
  signal?: AbortSignal,
  more: Readonly<Record<string, string>> = {},
): Promise<TimedResponse> {
  const startedAt = performance.now();
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(credential && credentialHeader(credential)),
      ...more,
    },
    body: JSON.stringify(operation),
    credentials: 'omit',
    cache: 'no-store',
    ...(signal && { signal }),
  });
  const body: TimedResponse['body'] = await response.json();
  const { status, statusText, headers } = response;
  const milliseconds = performance.now() - startedAt;
  return {
    status,
    statusText,
    headers,
    milliseconds,
    hasCredential: credential !== undefined,
    body,
  };
}

const INTROSPECTION = {
  query: getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true }),
};
// Tokens cannot introspect. This asks whether the token is valid.
const PROBE = { query: '{ __typename }' };

/** Resolves without a schema if the credential is refused. Rejects if no response comes. */
export async function loadSchema(credential: Credential, memberSchema: string) {
  if (credential.kind === 'partner') {
    const response = await send(INTROSPECTION, credential);
    if (response.status !== 200) return { response, schema: undefined };
    // Cast: buildClientSchema throws if it is something else.
    return { response, schema: buildClientSchema(response.body.data as IntrospectionQuery) };
  }
  const response = await send(PROBE, credential);
  if (response.status !== 200) return { response, schema: undefined };
  const file = await fetch(memberSchema, { credentials: 'omit' });
  return { response, schema: buildSchema(await file.text()) };
}

/**
 * What ends the quotes of a shell, and what terminals act on or do not show. The line feeds between
 * the entries of the JSON stay; those in texts are escaped already.
 */
const UNSAFE = /['\u2028\u2029\p{Cf}]|(?!\n)\p{Cc}/gu;

/** Safe to paste, whoever wrote the operation. The headers are not the reader's, but the page's. */
export function curlOf(
  endpoint: string,
  surface: Credential['kind'],
  operation: Operation,
  headers: Readonly<Record<string, string>>,
): string {
  const body = JSON.stringify(operation, null, 2).replace(UNSAFE, escaped);
  const more = Object.entries(headers).map(([name, value]) => ` \\\n  -H '${name}: ${value}'`);
  return filled(template, surface, { endpoint: `${endpoint}${more.join('')}`, body });
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
