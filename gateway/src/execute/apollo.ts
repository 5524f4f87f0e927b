// What stock execution uses of Apollo's libraries. They load slowly: import this file on use.
export { buildSchema as buildApolloSchema } from '@apollo/federation-internals';
export { buildOperationContext, executeQueryPlan } from '@apollo/gateway';
