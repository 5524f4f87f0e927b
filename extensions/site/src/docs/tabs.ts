// An example on the page: a tab for each language, and the response. It works without scripts.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { codeBlock, type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { type GraphQLSchema, parse, validate } from 'graphql';
import type { About } from '../frame.ts';
import type { Example } from './example.ts';
import { EXAMPLES, exampleKey } from './examples.ts';
import { LANGUAGES, programOf } from './languages.ts';
import responses from './responses.generated.json' with { type: 'json' };

const RESPONSES: Readonly<Record<string, unknown>> = responses;

/** The examples of a surface by their fields, without those that do not fit what is served. */
export async function examplesOf(
  surface: SurfaceName,
  schema: GraphQLSchema,
  about: About,
): Promise<ReadonlyMap<string, Html>> {
  const shown = new Map<string, Html>();
  for (const example of EXAMPLES.filter((each) => each.surface === surface)) {
    await nextTurn();
    if (validate(schema, parse(example.query)).length === 0)
      shown.set(example.field, tabs(example, about));
  }
  return shown;
}

export function errorExamples(about: About): Html[] {
  return EXAMPLES.filter(({ field }) => field === 'error').map((example) => tabs(example, about));
}

function tabs(example: Example, { endpoint, hasExplorer }: About): Html {
  const key = exampleKey(example);
  const choices = LANGUAGES.map(
    (language, index) => html`<input type="radio" name="${key}" value="${language}"
 id="${key}.${language}"${index === 0 ? html` checked` : ''}><label
 for="${key}.${language}">${language}</label>`,
  );
  const programs = LANGUAGES.map((language) =>
    codeBlock(`Request in ${language}`, programOf(example, language, endpoint)),
  );
  return html`<details class="example">
<summary>Example<span class="unseen"> of ${example.field}</span></summary>
<fieldset class="tabs"><legend class="unseen">Language of the request</legend>
${choices}
${programs}
</fieldset>
<p class="response">Response${hasExplorer ? explorerLink(example) : ''}</p>
${codeBlock('Response', JSON.stringify(RESPONSES[key], null, 2))}
</details>`;
}

/** Browsers keep what is behind # to themselves. */
function explorerLink({ query, variables }: Example): Html {
  const shared = new URLSearchParams({ query, variables: JSON.stringify(variables, null, 2) });
  return html` <a href="/explorer#${shared.toString()}">Open in the explorer</a>`;
}
