#!/usr/bin/env bash
# Proves that the core needs no extension: copies it without them, installs, starts it, sends the
# README's request, and runs the core's tests that need no server. `npm run test:core`
set -euo pipefail
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z | grep -zv '^extensions/' | xargs -0 cp --parents -t "$copy"
cd "$copy"
# What names the extensions: the list, and the manifests of who loads from it.
sed -i '/import(.@partner-loyalty\//d' bin/extensions/list.ts
node -e '
  const { readFileSync, writeFileSync } = require("node:fs");
  for (const file of ["package.json", "bin/package.json"]) {
    const { workspaces, devDependencies, ...rest } = JSON.parse(readFileSync(file));
    const core = /^@partner-loyalty\/(?!(audit|console|mcp|provider|registry|site|usage|webhooks)$)|^(?!@partner-loyalty)/;
    const kept = Object.entries(devDependencies).filter(([name]) => core.test(name));
    writeFileSync(file, JSON.stringify({
      ...rest,
      workspaces: workspaces?.filter((place) => !place.startsWith("extensions")),
      devDependencies: Object.fromEntries(kept),
    }));
  }
'
npm install --ignore-scripts --prefer-offline
node .ci/start.js
node bin/loyalty.js doctor
npm test -- --testPathPatterns '^'"$PWD"'/(gateway|runtime|subgraphs)/'
