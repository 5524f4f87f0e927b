// Before `npm run test:deploy`.
export { deploy as default } from './needs.ts';
