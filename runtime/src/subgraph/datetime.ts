// The scalar DateTime: an instant as RFC 3339 has it, in UTC.
import { GraphQLScalarType } from 'graphql';

/**
 * Responses have milliseconds. Arguments are not checked here, since an error would not name the
 * argument: a resolver gets what the caller sent.
 */
export const DATE_TIME = new GraphQLScalarType<unknown, string>({
  name: 'DateTime',
  serialize(value) {
    if (!(value instanceof Date)) throw new TypeError('a DateTime is a Date');
    return value.toISOString();
  },
});
