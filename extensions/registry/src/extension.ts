// The registry below /registry/, as an extension of the gateway.
import type { Core, Extension } from '@partner-loyalty/gateway/ports.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { once } from '@partner-loyalty/runtime/once.ts';

const REGISTRY_PATH = '/registry/';

export function open(core: Core): Extension {
  const registry = once(async () => (await import('./endpoint.ts')).createRegistryEndpoint(core));
  const ask = async (request: HttpRequest) => (await registry())(request);
  return {
    handle: (request) => (request.path.startsWith(REGISTRY_PATH) ? ask(request) : undefined),
  };
}
