// Which schema coordinates an operation has to use for a change to affect it.

import { type Element, elementsOf } from '@partner-loyalty/gateway/schema/deprecations.ts';
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isRequiredArgument,
} from 'graphql';

/**
 * The coordinates of `before` that a change at `path` affects, in the form that usage is counted
 * in. A change of a whole type, or of a part that is not counted, affects whatever leads to the
 * type.
 */
export function affectedCoordinates(
  path: string,
  before: GraphQLSchema,
  after: GraphQLSchema,
): string[] {
  const [typeName = '', member, argument] = path.split('.').filter((part) => !part.startsWith('@'));
  const type = before.getType(typeName);
  if (type === undefined) return [];
  const [known, now] = [elementsOf(before), elementsOf(after)];
  const field = `${typeName}.${member}`;
  // If an argument or an input field is required now, operations without it fail.
  const becameRequired = (coordinate: string) =>
    isRequired(now.get(coordinate)) && !isRequired(known.get(coordinate));
  if (!known.has(field) || isEnumType(type)) return usesOf(type, known);
  if (isInputObjectType(type)) return becameRequired(field) ? usesOf(type, known) : [field];
  const coordinate = `${field}(${argument}:)`;
  return [known.has(coordinate) && !becameRequired(coordinate) ? coordinate : field];
}

function isRequired(element: Element | undefined): boolean {
  return element !== undefined && 'defaultValue' in element && isRequiredArgument(element);
}

/** The fields of a type, and the fields and arguments that have it as their type. */
function usesOf(type: GraphQLNamedType, elements: ReadonlyMap<string, Element>): string[] {
  const isUse = ([coordinate, element]: [string, Element]) =>
    'type' in element &&
    (getNamedType(element.type).name === type.name ||
      coordinate === `${type.name}.${element.name}`);
  return [...elements].filter(isUse).map(([coordinate]) => coordinate);
}
