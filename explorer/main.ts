// The explorer: shows the schema of a key or a token, and runs operations with it.
import { updateSchema } from 'cm6-graphql';
import { parse, print } from 'graphql';
import {
  type Credential,
  credentialFrom,
  firstCredential,
  forget,
  keep,
  memberOf,
} from './credential.ts';
import { byId, element } from './dom.ts';
import { jsonView, operationEditor, setText, variablesEditor } from './editor.ts';
import { type Example, examplesFor } from './examples.ts';
import { NO_ANSWER } from './hints.ts';
import { loadSchema } from './load.ts';
import { showBody, showOutcome, showProblem } from './result.ts';
import { searchSchema, showSchema, summaryOf } from './schema.ts';
import { type Operation, send } from './send.ts';

const { memberSchema = '', memberClaim = 'sub' } = byId('main', HTMLElement).dataset;
const secret = byId('secret', HTMLInputElement);
const state = byId('state', HTMLElement);
const choice = byId('example', HTMLSelectElement);
const types = byId('types', HTMLElement);
const search = byId('search', HTMLInputElement);

let credential: Credential | undefined;
let examples: Example[] = [];
let running: AbortController | undefined;

const startRun = () => {
  void run();
  return true;
};
const operation = operationEditor(byId('operation', HTMLElement), '', startRun);
const variables = variablesEditor(byId('variables', HTMLElement), '', startRun);
const answerView = jsonView(byId('answer', HTMLElement));

byId('credential', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void use(credentialFrom(secret.value));
});
byId('forget', HTMLButtonElement).addEventListener('click', () => {
  forget();
  location.reload();
});
byId('run', HTMLButtonElement).addEventListener('click', startRun);
byId('format', HTMLButtonElement).addEventListener('click', format);
choice.addEventListener('change', () => showExample(examples[choice.selectedIndex]));
search.addEventListener('input', () => searchSchema(types, search.value));

offerExamples(examplesFor('partner', '', undefined));
// A link with another key, opened in a tab that has the page already.
addEventListener('hashchange', begin);
begin();

function begin(): void {
  const first = firstCredential();
  if (first !== undefined) void use(first);
}

/** Shows the schema that a credential opens, or why it opens none. */
async function use(given: Credential | undefined): Promise<void> {
  if (given === undefined) return showProblem('Paste a partner key (pk_…) or an ID token.');
  credential = given;
  secret.value = given.secret;
  state.textContent = 'Loading the schema…';
  try {
    const { answer, schema } = await loadSchema(given, memberSchema);
    if (credential !== given) return;
    showOutcome(answer);
    if (schema === undefined) {
      showBody(answerView, answer);
      state.textContent = 'No schema: this key or token was refused.';
      return;
    }
    keep(given);
    updateSchema(operation, schema);
    showSchema(types, schema);
    search.value = '';
    state.textContent = `The ${given.kind} surface: ${summaryOf(schema)}.`;
    offerExamples(examplesFor(given.kind, memberOf(given, memberClaim) ?? '', schema));
  } catch {
    state.textContent = 'No schema.';
    showProblem(NO_ANSWER);
  }
}

/** Runs the operation at the cursor. A later run takes the place of an earlier one. */
async function run(): Promise<void> {
  const asked = readOperation();
  if (asked === undefined) return;
  running?.abort();
  const mine = new AbortController();
  running = mine;
  try {
    const answer = await send(asked, credential, mine.signal);
    if (running !== mine) return;
    showBody(answerView, answer);
    showOutcome(answer);
  } catch {
    if (running === mine) showProblem(NO_ANSWER);
  }
}

function readOperation(): Operation | undefined {
  const query = operation.state.doc.toString();
  const text = variables.state.doc.toString().trim();
  try {
    const values: unknown = text === '' ? {} : JSON.parse(text);
    if (typeof values !== 'object' || values === null || Array.isArray(values)) throw new Error();
    // Cast: it is an object, and JSON has no other keys than strings.
    return {
      query,
      variables: values as Record<string, unknown>,
      operationName: nameAtCursor(query),
    };
  } catch {
    showProblem('The variables must be one JSON object.');
    return undefined;
  }
}

/** Of several operations, the name of the one at the cursor, or of the first. */
function nameAtCursor(query: string): string | undefined {
  const cursor = operation.state.selection.main.head;
  try {
    const all = parse(query).definitions.filter((each) => each.kind === 'OperationDefinition');
    if (all.length < 2) return undefined;
    const at = all.find(({ loc }) => loc && loc.start <= cursor && cursor <= loc.end) ?? all[0];
    return at?.name?.value;
  } catch {
    return undefined; // The service says what is wrong with the syntax.
  }
}

function format(): void {
  try {
    setText(operation, print(parse(operation.state.doc.toString())));
    const text = variables.state.doc.toString();
    if (text.trim() !== '') setText(variables, JSON.stringify(JSON.parse(text), null, 2));
    showProblem(undefined);
  } catch (error) {
    showProblem(error instanceof Error ? error.message : 'This cannot be formatted.');
  }
}

function offerExamples(offered: Example[]): void {
  const before = examples[choice.selectedIndex];
  const isUntouched = before === undefined || operation.state.doc.toString() === before.query;
  examples = offered;
  choice.replaceChildren(...offered.map(({ title }) => element('option', {}, title)));
  const same = offered.findIndex(({ title }) => title === before?.title);
  choice.selectedIndex = Math.max(same, 0);
  if (isUntouched) showExample(offered[choice.selectedIndex]);
}

function showExample(example: Example | undefined): void {
  if (example === undefined) return;
  setText(operation, example.query);
  setText(variables, JSON.stringify(example.variables, null, 2));
}
