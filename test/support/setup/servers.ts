// Before `npm run test:servers`.
import { bundlePrograms, provide } from './needs.ts';

export default async function setup(): Promise<void> {
  await bundlePrograms();
  await provide('servers');
}
