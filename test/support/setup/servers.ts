// Before `npm run test:servers`.
export { servers as default } from './needs.ts';
