// Before `npm run test:browser`.
export { browser as default } from './needs.ts';
