// The public list of publishing and checking, apart from the gateway, which never loads them.

export { surfaceText } from '../execute/committed.ts';
export { faultOfSubgraph, missingFrom } from './asked.ts';
export { assess, TooLargeError } from './assess.ts';
export type { Assessment, Step } from './assessment.ts';
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
export type { Need } from './needs.ts';
export type { Notice } from './notices.ts';
export { policyFaults } from './policy.ts';
