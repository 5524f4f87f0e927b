// Examples as programs that need nothing but their language: a template of languages/ for each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Example } from './example.ts';
import { filled } from './template.ts';

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
  const file = `languages/${language.replace('#', 'Sharp')}.txt`;
  return readFileSync(join(import.meta.dirname, file), 'utf8');
}

/** JSON in the notation of PHP. Each of its lines has one brace or one entry. */
function phpOf(json: string): string {
  if (json === '{}') return 'new stdClass()';
  return json
    .replace(/^( *"\w+"): /gm, '$1 => ')
    .replace(/\{$/gm, '[')
    .replace(/\}(,?)$/gm, ']$1');
}
