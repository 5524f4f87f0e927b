// The public list of publishing and checking, apart from the gateway, which never loads them.

export { surfaceText } from '../execute/committed.ts';
export { openSecrets } from '../graph/secrets.ts';
export { askSubgraph, missingFrom } from './asked.ts';
export { surfaceChanges, surfaceSchemas, versionChanges } from './changes.ts';
export { CompositionError, compose } from './compose.ts';
export {
  committedContent,
  contentOf,
  currentContent,
  type GraphContent,
  newProvider,
  withoutSubgraph,
  withSubgraph,
} from './content.ts';
export { type CheckedChange, type UsedBy, withUsage } from './inuse.ts';
export { policyFaults } from './policy.ts';
