// Before `npm run test:browser`.
import { bundlePrograms, provide } from './needs.ts';

export default async function setup(): Promise<void> {
  await bundlePrograms();
  await provide('browser');
}
