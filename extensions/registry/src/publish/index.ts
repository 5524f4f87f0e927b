// The public list of publishing and checking, apart from the gateway, which never loads them.

export { surfaceText } from '@partner-loyalty/gateway/execute/committed.ts';
export { runningSdl } from './asked.ts';
export { assess } from './assess.ts';
export { surfaceSchemas } from './changes.ts';
export { compose } from './compose.ts';
export { committedContent, type GraphContent } from './content.ts';
export { CompositionError } from './faults.ts';
