// The examples of the reference, one for each operation: what is sent, and what was answered.
import type { SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { codeBlock, type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { textBeside } from '@partner-loyalty/runtime/pages/style.ts';
import { type GraphQLSchema, parse, validate } from 'graphql';
import type { About } from '../frame.ts';
import { type Example, examplesIn } from './example.ts';
import { highlighted } from './highlight.ts';
import { filled } from './template.ts';

/** Stands for the token of a link that was mailed. */
export const TOKEN = 'ml_TOKEN_OF_THE_LINK';

/** In the order of the file. */
export const EXAMPLES = examplesIn(textBeside(import.meta.dirname, 'examples.graphql'));

/** The key of its response in responses.generated.json. */
export function exampleKey({ surface, field }: Pick<Example, 'surface' | 'field'>): string {
  return `${surface}.${field}`;
}

/** In the order of the tabs. */
export const LANGUAGES = ['curl', 'JavaScript', 'Python', 'Go', 'PHP', 'Java', 'C#'] as const;
export type Language = (typeof LANGUAGES)[number];

const TEMPLATES = new Map(LANGUAGES.map((language) => [language, templateOf(language)]));

/** The example as a whole program, which prints the response. It reads its key or token. */
export function programOf(example: Example, language: Language, endpoint: string): string {
  const { surface, query, variables } = example;
  const json = JSON.stringify(variables, null, 2);
  const body = JSON.stringify({ query: query.replace(/\s+/g, ' '), variables }, null, 2);
  return filled(TEMPLATES.get(language) ?? '', surface, {
    endpoint,
    name: query.split(/[ ({]/, 2)[1] ?? '',
    query,
    variables: json,
    pythonVariables: json.replace(/: null\b/g, ': None'),
    phpVariables: phpOf(json),
    body,
    javaBody: body.replaceAll('\n', '\n        '),
    csharpBody: body.replaceAll('"', '""'),
  });
}

function templateOf(language: Language): string {
  return textBeside(import.meta.dirname, `languages/${language.replace('#', 'Sharp')}.txt`);
}

/** JSON in the notation of PHP. Each of its lines has one brace or one entry. */
function phpOf(json: string): string {
  if (json === '{}') return 'new stdClass()';
  return json
    .replace(/^( *"\w+"): /gm, '$1 => ')
    .replace(/\{$/gm, '[')
    .replace(/\}(,?)$/gm, ']$1');
}

import responses from './responses.generated.json' with { type: 'json' };

const RESPONSES: Readonly<Record<string, unknown>> = responses;

/** The example of an operation, if it has one that fits what is served. */
export function exampleOf(
  surface: SurfaceName,
  field: string,
  schema: GraphQLSchema,
  about: About,
): Html | undefined {
  const example = EXAMPLES.find((each) => each.surface === surface && each.field === field);
  const fits = example !== undefined && validate(schema, parse(example.query)).length === 0;
  return fits ? tabs(example, about) : undefined;
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
    codeBlock(
      `Request in ${language}`,
      highlighted(programOf(example, language, endpoint), language),
    ),
  );
  return html`<section class="example" aria-label="Example">
<fieldset class="tabs"><legend class="unseen">Language of the request</legend>
${choices}
${programs}
</fieldset>
<p class="response">Response${hasExplorer ? explorerLink(example) : ''}</p>
${codeBlock('Response', highlighted(JSON.stringify(RESPONSES[key], null, 2), 'json'))}
</section>`;
}

/** Browsers keep what is behind # to themselves. */
function explorerLink({ query, variables }: Example): Html {
  const shared = new URLSearchParams({ query, variables: JSON.stringify(variables, null, 2) });
  return html` <a href="/explorer#${shared.toString()}">Open in the explorer</a>`;
}
