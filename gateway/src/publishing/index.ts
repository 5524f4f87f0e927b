// The public list of publishing and checking, apart from the gateway, which never loads them.

export { faultOfSubgraph, missingFrom } from './asked.ts';
export {
  type Level,
  type SurfaceChange,
  type SurfaceSchemas,
  surfaceChanges,
  surfaceSchemas,
} from './changes.ts';
export { CompositionError, compose } from './compose.ts';
export {
  committedContent,
  currentContent,
  type GraphContent,
  withoutSubgraph,
  withSubgraph,
} from './content.ts';
export { type CheckedChange, isInUse, type UsedBy, withUsage } from './inuse.ts';
