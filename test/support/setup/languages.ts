// Before `npm run test:languages`.
export { languages as default } from './needs.ts';
