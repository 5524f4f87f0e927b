// The public list of publishing and checking, apart from the gateway, which never loads them.

export { surfaceText } from '../execute/committed.ts';
export { surfaceSchemas } from './changes.ts';
export { compose } from './compose.ts';
