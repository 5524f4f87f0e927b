// Validates documents against a surface's schema.
import { eachNode } from '@partner-loyalty/runtime/cache/document.ts';
import { ApiError, type ErrorCode, fail } from '@partner-loyalty/runtime/errors.ts';
import { createIsValid } from '@partner-loyalty/runtime/validity.ts';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  Kind,
  specifiedRules,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LIMITS } from './measure.ts';

/** How many errors a caller gets for a request that is not executed (docs/callers/errors.md). */
export const MAX_REQUEST_ERRORS = 5;

/**
 * The first ways in which a document does not fit a schema. Throws OPERATION_TOO_COMPLEX if its
 * literals have too many fields.
 */
export function validationErrorsOf(
  document: DocumentNode,
  schema: GraphQLSchema,
): readonly GraphQLError[] {
  requireFewFields(document, schema);
  const missing = missingRootTypes(document, schema);
  if (isShort(document) && isValid(schema, document)) return missing;
  const options = { maxErrors: MAX_REQUEST_ERRORS, hideSuggestions: hidesSuggestions(schema) };
  const single = withoutRepeatedFields(document);
  return [...validate(schema, single, specifiedRules, options), ...missing];
}

/** Default values are literals, too. */
function requireFewFields(document: DocumentNode, schema: GraphQLSchema): void {
  let objects = 0;
  eachNode(document, ({ kind }) => {
    if (kind === Kind.OBJECT) objects += 1;
  });
  if (objects === 0) return;
  let fields = 0;
  const types = new TypeInfo(schema);
  const countFields = () => {
    const type = getNamedType(types.getInputType());
    if (isInputObjectType(type)) fields += 1 + Object.keys(type.getFields()).length;
    if (fields > LIMITS.inputFields)
      fail('OPERATION_TOO_COMPLEX', `the literals have more than ${LIMITS.inputFields} fields`);
  };
  visit(document, visitWithTypeInfo(types, { ObjectValue: countFields }));
}

/** Of letters that graphql-js compares to find the names of a type that resemble a wrong one. */
const MAX_COMPARED = 500_000;
const hiding = new WeakMap<GraphQLSchema, boolean>();

/** Whether errors name no similar names, because a type has so many long ones. */
export function hidesSuggestions(schema: GraphQLSchema): boolean {
  const compared = (named: readonly { name: string }[]) =>
    named.reduce((sum, { name }) => sum + name.length ** 2, 0);
  const isLarge = () => {
    const types = Object.values(schema.getTypeMap());
    const lists = types.flatMap((type) => {
      if (isEnumType(type)) return [type.getValues()];
      const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
      return [fields, ...fields.map((field) => ('args' in field ? field.args : []))];
    });
    return [types, ...lists].some((named) => compared(named) > MAX_COMPARED);
  };
  const hides = hiding.get(schema) ?? isLarge();
  hiding.set(schema, hides);
  return hides;
}

/**
 * Throws GRAPHQL_VALIDATION_FAILED if there are validation errors, or OPERATION_TOO_COMPLEX if the
 * document repeats too many fields to be validated.
 */
export function requireValid(errors: readonly GraphQLError[]): void {
  if (errors.length === 0) return;
  // graphql-js stops comparing fields before that takes long.
  if (errors.some(({ message }) => message === 'Validation aborted.'))
    fail('OPERATION_TOO_COMPLEX', 'the operation repeats too many fields');
  throw new GraphqlRequestError('GRAPHQL_VALIDATION_FAILED', errors);
}

const isValid = createIsValid(specifiedRules);
/** In selections. A document with at most this many is validated twice if it is invalid. */
const SHORT = 100;

// Comparing all pairs of fields of a short document takes little time, even if fields are repeated.
function isShort(document: DocumentNode): boolean {
  let selections = 0;
  eachNode(document, ({ kind }) => {
    const selects =
      kind === Kind.FIELD || kind === Kind.INLINE_FRAGMENT || kind === Kind.FRAGMENT_SPREAD;
    if (selects) selections += 1;
  });
  return selections <= SHORT;
}

// Repeating a plain field selects nothing more, but graphql-js compares every pair of fields and
// gives up after several hundred.
function withoutRepeatedFields(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet(set) {
      const seen = new Set<string>();
      const selections = set.selections.filter((node) => {
        if (node.kind !== Kind.FIELD) return true;
        if (node.selectionSet || node.arguments?.length || node.directives?.length) return true;
        const field = `${node.alias?.value ?? ''}:${node.name.value}`;
        return seen.size < seen.add(field).size;
      });
      return selections.length === set.selections.length ? undefined : { ...set, selections };
    },
  });
}

// graphql-js reports an operation without a root type only when it executes it.
function missingRootTypes(document: DocumentNode, schema: GraphQLSchema): GraphQLError[] {
  return document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION && !schema.getRootType(node.operation)
      ? [new GraphQLError(`The schema has no ${node.operation} type.`, { nodes: node })]
      : [],
  );
}

/** Its messages come from graphql-js and name only what the caller sent or may see. */
export class GraphqlRequestError extends ApiError {
  readonly errors: readonly GraphQLError[];
  constructor(code: ErrorCode, errors: readonly GraphQLError[]) {
    super(code);
    this.errors = errors.slice(0, MAX_REQUEST_ERRORS);
  }
}
