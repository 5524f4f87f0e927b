// Which types are about a member: those with the field `memberId`.
import {
  type GraphQLNamedType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql';

export const MEMBER_ID = 'memberId';

/** Whether the type has a member's ID that can be selected without arguments. */
export function hasMemberId(type: GraphQLNamedType | null | undefined): boolean {
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const field = type.getFields()[MEMBER_ID];
  return field !== undefined && field.args.length === 0 && isLeafType(getNamedType(field.type));
}
