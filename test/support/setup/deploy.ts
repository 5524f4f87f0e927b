// Before `npm run test:deploy`.
import { bundlePrograms, provide } from './needs.ts';

export default async function setup(): Promise<void> {
  await bundlePrograms();
  await provide('deploy');
}
