// The documentation for assistants, as https://llmstxt.org has it.
import { type About, baseUrlOf } from '../frame.ts';
import { pageTitle } from './guides.ts';
import { DOCS_PATH, GUIDE_PAGES, pagePath, schemaPath, TOPICS } from './paths.ts';

export function llmsText(about: About): string {
  const { endpoint, mcpEndpoint, environment } = about;
  const base = baseUrlOf(about);
  const listed = (pages: readonly string[]) =>
    pages.map((page) => `- [${pageTitle(page)}](${base}${pagePath(page)}.md)`).join('\n');
  return `# Partner Loyalty API

> A GraphQL API that partners of a loyalty platform use to read a member's identity, tier and points,
> enroll members, record activities and let members sign in. This is the ${environment}.

- Endpoint: POST ${endpoint}, with \`content-type: application/json\` and one credential: a partner
  key as \`x-partner-api-key\`, on servers only, or a member's token as \`authorization: Bearer\`.
- Assistants call read-only tools at ${mcpEndpoint}, over the Model Context Protocol.
- Errors: branch on \`extensions.code\`. A field that fails is null, with the status 200.
- Out of scope: ${OUT_OF_SCOPE.join(', ')}.

## Guides

${listed(GUIDE_PAGES)}

## In detail

${listed(TOPICS)}

## Reference

- [The schema for partner keys](${base}${schemaPath('partner')})
- [The schema for members' tokens](${base}${schemaPath('member')})
- [The reference with an example for each operation, as HTML](${base}${DOCS_PATH})
`;
}

/** What callers may look for, and the API does not do. */
export const OUT_OF_SCOPE = ['redemption', 'vouchers', 'transfers', 'households', 'promotions'];
