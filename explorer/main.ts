// The explorer: shows the schema of a key or a token, and runs operations with it.
import { updateSchema } from 'cm6-graphql';
import { parse, print } from 'graphql';
import { byId, canCopy, copyButton, element } from './copy.ts';
import {
  type Credential,
  credentialFrom,
  forget,
  isMcpKey,
  keep,
  keptCredential,
  linkedCredential,
  memberOf,
} from './credential.ts';
import { type Draft, keepDraft, keptDraft, linkedDraft, linkTo } from './draft.ts';
import { jsonView, operationEditor, setText, variablesEditor } from './editor.ts';
import { ALL_EXAMPLES, type Example, examplesFor } from './examples.ts';
import {
  clearResponse,
  hintFor,
  PROBLEMS,
  showProblem,
  showResponse,
  showRunning,
  statusOf,
} from './result.ts';
import { searchSchema, showSchema, summaryOf } from './schema.ts';
import { curlOf, loadSchema, type Operation, send } from './send.ts';

const { endpoint = '', memberSchema = '', memberClaim = 'sub' } = byId('main', HTMLElement).dataset;
const secret = byId('secret', HTMLInputElement);
const state = byId('state', HTMLElement);
const choice = byId('example', HTMLSelectElement);
const types = byId('types', HTMLElement);
const search = byId('search', HTMLInputElement);

let credential: Credential | undefined;
let examples: Example[] = [];
/** The one that the editors show, unless it was edited. */
let example: Example | undefined;
let running: AbortController | undefined;

const startRun = () => {
  void run();
  return true;
};
const events = { run: startRun, changed: edited };
const operation = operationEditor(byId('operation', HTMLElement), events);
const variables = variablesEditor(byId('variables', HTMLElement), events);
const responseView = jsonView(byId('response', HTMLElement));

byId('credential', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void use(credentialFrom(secret.value));
});
secret.addEventListener('input', () => showProblem('key', undefined));
byId('forget', HTMLButtonElement).addEventListener('click', () => {
  forget();
  keepDraft(undefined);
  location.reload();
});
byId('run', HTMLButtonElement).addEventListener('click', startRun);
byId('format', HTMLButtonElement).addEventListener('click', format);
choice.addEventListener('change', () => showExample(examples[choice.selectedIndex]));
search.addEventListener('input', () => searchSchema(types, search.value));

if (canCopy)
  byId('copies', HTMLElement).append(
    copyButton('Copy as curl', 'quiet', curl),
    copyButton('Copy link', 'quiet', link),
  );

offerExamples(ALL_EXAMPLES);
const draft = keptDraft();
if (draft === undefined) showExample(examples[0]);
else showDraft(draft);
begin(keptCredential());
// A link that is opened in a tab that has the page already.
addEventListener('hashchange', () => begin(undefined));

/** Fills the editors with the operation of a link, and uses its key or token, or else this one. */
function begin(kept: Credential | undefined): void {
  const linked = linkedDraft();
  showProblem('operation', linked === 'too long' ? PROBLEMS.linkTooLong : undefined);
  if (linked !== undefined && linked !== 'too long') {
    showDraft(linked);
    for (const menu of menus()) {
      menu.value = linked.menus.get(menu.id) ?? '';
      if (menu.selectedIndex === -1) menu.selectedIndex = 0;
    }
  }
  const first = linkedCredential() ?? kept;
  if (first !== undefined) void use(first);
}

/** Shows the schema that a credential opens, or why it opens none. */
async function use(given: Credential | undefined): Promise<void> {
  if (given === undefined) return showProblem('key', PROBLEMS.noCredential);
  if (isMcpKey(given)) return showProblem('key', PROBLEMS.mcpKey);
  credential = given;
  secret.value = given.secret;
  state.textContent = 'Loading the schema…';
  // The response, if there is one, was to another key.
  running?.abort();
  running = undefined;
  clearResponse(responseView);
  try {
    const { response, schema } = await loadSchema(given, memberSchema);
    if (credential !== given) return;
    showProblem('key', hintFor(response));
    updateSchema(operation, schema);
    if (schema === undefined) {
      types.replaceChildren();
      const id = response.headers.get('x-request-id') ?? 'none';
      state.textContent = `No schema: ${statusOf(response)}, x-request-id ${id}.`;
      return;
    }
    keep(given);
    showSchema(types, schema);
    search.value = '';
    state.textContent = `The ${given.kind} surface: ${summaryOf(schema)}. Loaded: ${statusOf(response)}.`;
    offerExamples(examplesFor(given.kind, schema, memberOf(given, memberClaim)));
  } catch {
    if (credential !== given) return;
    state.textContent = 'No schema.';
    showProblem('key', PROBLEMS.noResponse);
  }
}

/** Runs the operation at the cursor. A later run takes the place of an earlier one. */
async function run(): Promise<void> {
  running?.abort();
  running = undefined;
  const asked = readOperation();
  if (asked === undefined) return clearResponse(responseView, 'Not sent');
  const mine = new AbortController();
  const headers = sandboxHeaders();
  running = mine;
  showRunning(responseView);
  try {
    const response = await send(asked, credential, mine.signal, headers);
    if (running === mine) showResponse(responseView, response);
  } catch {
    if (running !== mine) return;
    clearResponse(responseView, 'No response');
    showProblem(
      'run',
      headers['x-sandbox-fault'] === 'timeout' ? PROBLEMS.timedOut : PROBLEMS.noResponse,
    );
  }
}

/** What others get from here is for their own keys. */
function curl(): string | undefined {
  const asked = readOperation();
  if (asked === undefined) return undefined;
  const surface = credential?.kind ?? examples[choice.selectedIndex]?.surface ?? 'partner';
  return withoutCredential(curlOf(endpoint, surface, asked, sandboxHeaders()));
}

/** What the menus have chosen, which only the page of a sandbox has. */
function sandboxHeaders(): Record<string, string> {
  const { fault, days } = chosen();
  const time = new Date(Date.now() + Number(days) * 86_400_000);
  return {
    ...(fault && { 'x-sandbox-fault': fault }),
    ...(days && { 'x-sandbox-now': time.toISOString() }),
  };
}

function chosen(): Record<string, string> {
  const all = menus().filter(({ value }) => value !== '');
  return Object.fromEntries(all.map(({ id, value }) => [id, value]));
}

function menus(): HTMLSelectElement[] {
  return [...document.querySelectorAll<HTMLSelectElement>('#fault, #days')];
}

function link(): string | undefined {
  const url = linkTo(shownDraft(), chosen());
  if (url !== 'too long') return withoutCredential(url);
  showProblem('operation', PROBLEMS.tooLongToLink);
  return undefined;
}

function withoutCredential(text: string): string | undefined {
  if (credential === undefined || !text.includes(credential.secret)) return text;
  showProblem('operation', PROBLEMS.hasCredential);
  return undefined;
}

/** Undefined if the variables are not an object, which is shown beside them. */
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
    showProblem('operation', PROBLEMS.notAnObject);
    return undefined;
  }
}

/** After each change of an editor. What is as in the example need not be kept. */
function edited(): void {
  showProblem('run', undefined);
  showProblem('operation', undefined);
  keepDraft(example && isAsIn(example) ? undefined : shownDraft());
}

function shownDraft(): Draft {
  return { query: operation.state.doc.toString(), variables: variables.state.doc.toString() };
}

function isAsIn({ query, variables: values }: Example): boolean {
  const shown = shownDraft();
  return shown.query === query && shown.variables === textOf(values);
}

/** The name of the operation at the cursor, or of the first one. */
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
  } catch (error) {
    showProblem('operation', error instanceof Error ? error.message : 'This cannot be formatted.');
  }
  const text = variables.state.doc.toString();
  try {
    if (text.trim() !== '') setText(variables, textOf(JSON.parse(text)));
  } catch {
    showProblem('operation', PROBLEMS.notJson);
  }
}

function offerExamples(groups: ReturnType<typeof examplesFor>): void {
  const isUntouched = example !== undefined && isAsIn(example);
  examples = groups.flatMap((group) => group.examples);
  choice.replaceChildren(
    ...groups.map(({ title, examples: offered }) =>
      element(
        'optgroup',
        { label: title },
        ...offered.map(({ field }) => element('option', {}, field)),
      ),
    ),
  );
  const { query } = shownDraft();
  const same = examples.findIndex((each) => each.query === query);
  choice.selectedIndex = same;
  if (isUntouched) showExample(examples[Math.max(same, 0)]);
}

function showExample(next: Example | undefined): void {
  if (next === undefined) return;
  example = next;
  showDraft({ query: next.query, variables: textOf(next.variables) });
}

function showDraft({ query, variables: values }: Draft): void {
  choice.selectedIndex = examples.findIndex((each) => each.query === query);
  setText(operation, query);
  setText(variables, values);
}

function textOf(values: unknown): string {
  return JSON.stringify(values, null, 2);
}
