// The Model Context Protocol at /mcp, as an extension of the gateway.
import { createCors } from '@partner-loyalty/gateway/edge/cors.ts';
import { createMcpAuthenticator } from '@partner-loyalty/gateway/identity/authenticate.ts';
import type { Core, Extension } from '@partner-loyalty/gateway/ports.ts';
import { createMcp, MCP_CORS, MCP_PATH } from './mcp.ts';

export function open(core: Core): Extension {
  const { settings, keyring, other } = core;
  const { environment, rateLimitBudget: keyBudget, corsOrigins } = settings;
  const mcp = createMcp({
    ...core,
    authenticate: createMcpAuthenticator({ environment, keyring, keyBudget }),
    cors: createCors(corsOrigins, MCP_CORS),
    correctEndpoint: `${other}${MCP_PATH}`,
  });
  return {
    handle: (request) =>
      request.path === MCP_PATH || request.path === `${MCP_PATH}/` ? mcp(request) : undefined,
  };
}
