// Before `npm test`.
export { bundlePrograms as default } from './needs.ts';
