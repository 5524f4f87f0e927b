# One image per target:
#   docker build --target gateway --build-arg COMMIT=$(git rev-parse HEAD) .
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS base
ENV NODE_ENV=production
WORKDIR /app
# npm checks the lock file against the manifests of all workspaces, so every image has them. Each
# target then installs the dependencies of its own workspace only.
COPY package.json package-lock.json .npmrc node.env ./
COPY runtime/package.json runtime/
COPY gateway/package.json gateway/
COPY subgraphs/members/package.json subgraphs/members/
COPY subgraphs/standings/package.json subgraphs/standings/
COPY extensions/audit/package.json extensions/audit/
COPY extensions/console/package.json extensions/console/
COPY extensions/mcp/package.json extensions/mcp/
COPY extensions/provider/package.json extensions/provider/
COPY extensions/registry/package.json extensions/registry/
COPY extensions/site/package.json extensions/site/
COPY extensions/usage/package.json extensions/usage/
COPY extensions/webhooks/package.json extensions/webhooks/
COPY bin/package.json bin/
COPY client/package.json client/
COPY examples/offers-apollo/package.json examples/offers-apollo/

# The services start node directly, so that it receives SIGTERM. Node 24 runs TypeScript as it is.
FROM base AS gateway
RUN npm ci --omit=dev --ignore-scripts --workspace=gateway \
  --workspace=extensions/audit --workspace=extensions/console --workspace=extensions/mcp \
  --workspace=extensions/provider --workspace=extensions/registry --workspace=extensions/site \
  --workspace=extensions/usage
COPY runtime runtime
COPY supergraph.yaml ./
COPY docs/callers docs/callers
# What the guides link to.
COPY examples/node examples/node
COPY examples/browser examples/browser
COPY gateway gateway
COPY extensions extensions
COPY bin/extensions bin/extensions
COPY bin/gateway.ts bin/
ARG COMMIT=unknown
ENV COMMIT=$COMMIT
USER node
EXPOSE 4000
CMD ["node", "--no-allocation-site-pretenuring", "--heap-growing-percent=200", "--env-file=node.env", "bin/gateway.ts"]

FROM base AS members
RUN npm ci --omit=dev --ignore-scripts --workspace=subgraphs/members \
  --workspace=extensions/provider
COPY runtime runtime
COPY subgraphs/members subgraphs/members
COPY extensions/provider extensions/provider
COPY bin/extensions bin/extensions
COPY bin/members.ts bin/subgraph.ts bin/
ARG COMMIT=unknown
ENV COMMIT=$COMMIT
USER node
EXPOSE 4011
CMD ["node", "--no-allocation-site-pretenuring", "--heap-growing-percent=200", "--env-file=node.env", "bin/members.ts"]

FROM base AS standings
RUN npm ci --omit=dev --ignore-scripts --workspace=subgraphs/standings \
  --workspace=extensions/webhooks
COPY runtime runtime
COPY subgraphs/standings subgraphs/standings
COPY extensions/webhooks extensions/webhooks
COPY bin/extensions bin/extensions
COPY bin/standings.ts bin/subgraph.ts bin/
ARG COMMIT=unknown
ENV COMMIT=$COMMIT
USER node
EXPOSE 4012
CMD ["node", "--no-allocation-site-pretenuring", "--heap-growing-percent=200", "--env-file=node.env", "bin/standings.ts"]

# The operator's command, for `docker compose run --rm loyalty`.
FROM base AS loyalty
RUN npm ci --omit=dev --ignore-scripts --workspace=bin
COPY runtime runtime
COPY supergraph.yaml ./
COPY gateway gateway
COPY extensions extensions
COPY subgraphs subgraphs
COPY bin bin
ARG COMMIT=unknown
ENV COMMIT=$COMMIT
USER node
ENTRYPOINT ["node", "bin/loyalty.js"]
