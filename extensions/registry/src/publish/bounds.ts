// The bounds on what a subgraph adds to the schemas that all callers read.
import {
  MAX_RESPONSE_BYTES,
  ResponseSize,
} from '@partner-loyalty/gateway/document/responsesize.ts';
import { introspect } from '@partner-loyalty/gateway/execute/introspect.ts';
import { argumentsOf } from '@partner-loyalty/gateway/schema/definitions.ts';
import { SURFACE_NAMES } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { characterFault } from '@partner-loyalty/runtime/input.ts';
import { getIntrospectionQuery, parse, Source, TokenKind, visit } from 'graphql';
import type { SurfaceSchemas } from './changes.ts';
import { located } from './compose.ts';

const MAX_PROSE_BYTES = 64 * 1_024;
/** The maximum of comments, and of blanks beyond twice the rest: every version keeps them. */
const MAX_COMMENT_BYTES = 64 * 1_024;
const MAX_NAME = 128;
const MAX_INTROSPECTION_BYTES = MAX_RESPONSE_BYTES / 2;

/** Faults of the names and texts of a schema, which must be SDL. */
export function proseFaults(sdl: string, file: string): string[] {
  const faults: string[] = [];
  let bytes = 0;
  let comments = 0;
  let content = 0;
  const document = parse(new Source(sdl, file));
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    const isComment = token.kind === TokenKind.COMMENT;
    const { value, start, end } = token;
    const length = value === undefined ? end - start : Buffer.byteLength(value);
    if (isComment) comments += length + 1;
    else content += length;
    const fault = isComment ? characterFault(token.value, true) : undefined;
    if (fault !== undefined)
      faults.push(`${file}:${token.line}:${token.column}: a comment ${fault}`);
  }
  visit(document, {
    Name(node) {
      const { length } = node.value;
      if (length > MAX_NAME)
        faults.push(located(`a name has ${length} characters, and may have ${MAX_NAME}`, [node]));
    },
    StringValue(node, key) {
      if (key === 'description') bytes += Buffer.byteLength(node.value);
      const fault = characterFault(node.value, true);
      if (fault !== undefined) faults.push(located(`a text ${fault}`, [node]));
    },
    Directive(node) {
      const [{ reason } = {}] = argumentsOf([node], 'deprecated');
      if (typeof reason === 'string') bytes += Buffer.byteLength(reason);
    },
  });
  if (bytes > MAX_PROSE_BYTES)
    faults.push(
      `${file}: descriptions and deprecation reasons have ${bytes} bytes, and may have ${MAX_PROSE_BYTES}`,
    );
  const blanks = Buffer.byteLength(sdl) - comments - content;
  const skipped = comments + Math.max(blanks - 2 * content, 0);
  if (skipped > MAX_COMMENT_BYTES)
    faults.push(
      `${file}: comments and blanks have ${skipped} bytes, and may have ${MAX_COMMENT_BYTES}`,
    );
  return faults;
}

/** Faults of surfaces that grow until a caller cannot read their whole schema in one response. */
export function introspectionFaults(before: SurfaceSchemas, after: SurfaceSchemas): string[] {
  return SURFACE_NAMES.flatMap((surface) => {
    const bytes = introspectionBytes(after[surface]);
    if (bytes <= MAX_INTROSPECTION_BYTES || bytes <= introspectionBytes(before[surface])) return [];
    return `the ${surface} surface: its introspection has ${bytes} bytes, and may have ${MAX_INTROSPECTION_BYTES}`;
  });
}

const EVERYTHING = parse(
  getIntrospectionQuery({
    ...{ specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true },
    ...{ inputValueDeprecation: true, oneOf: true },
  }),
);

function introspectionBytes(schema: SurfaceSchemas['partner']): number {
  const data = introspect(schema, EVERYTHING, {}, new ResponseSize(Number.POSITIVE_INFINITY));
  return Buffer.byteLength(JSON.stringify({ data }));
}
