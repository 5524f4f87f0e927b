// What stock execution uses of Apollo's libraries. They take a while to load: import it on use.
export { buildSchema as buildApolloSchema } from '@apollo/federation-internals';
export { buildOperationContext, executeQueryPlan } from '@apollo/gateway';
