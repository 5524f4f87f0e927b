// The editors of the page: for an operation, for its variables, and for the result, read-only.
import {
  autocompletion,
  type Completion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  HighlightStyle,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language';
import { type Diagnostic, linter, lintKeymap } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { graphql } from 'cm6-graphql';

const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--card)', height: '100%' },
  // The page marks the focus: an outline in here would lie below the line numbers.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
    fontSize: '0.875rem',
    lineHeight: '1.55',
  },
  '.cm-content': { padding: '0.625rem 0', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { color: 'var(--soft)', backgroundColor: 'var(--card)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '2.25rem', paddingRight: '0.75rem' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'var(--selection)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selection)' },
  '.cm-tooltip': {
    color: 'var(--text)',
    backgroundColor: 'var(--page)',
    border: '1px solid var(--line)',
    borderRadius: '0.375rem',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--on-accent)',
    backgroundColor: 'var(--accent)',
  },
  '.cm-completionInfo': { padding: '0.5rem 0.75rem', maxWidth: '24rem' },
});

const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.definitionKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  { tag: [tags.variableName, tags.special(tags.name)], color: 'var(--code-name)' },
  { tag: [tags.typeName, tags.attributeName], color: 'var(--code-name)' },
  { tag: [tags.propertyName], color: 'var(--text)' },
  { tag: [tags.comment], color: 'var(--soft)' },
]);

type EditorEvents = {
  /** In the keymap; returns whether it did something. */
  run(): boolean;
  /** After every change of the text. */
  changed(): void;
};

// Without any text, there are no variables.
const JSON_FAULTS = linter(({ state }) => {
  const { length } = state.doc;
  const faults: Diagnostic[] = [];
  syntaxTree(state).iterate({
    enter({ type, from, to }) {
      if (!type.isError || faults.length > 0) return;
      const start = Math.min(from, length - 1);
      const end = Math.max(to, start + 1);
      faults.push({ from: start, to: end, severity: 'error', message: 'This is not valid JSON.' });
    },
  });
  return state.doc.toString().trim() === '' ? [] : faults;
});

/** The editor of an operation; it completes and checks by the schema that `updateSchema` sets. */
export function operationEditor(parent: HTMLElement, events: EditorEvents): EditorView {
  return editor(parent, 'Operation', [...graphql(), ...editing(events)]);
}

export function variablesEditor(parent: HTMLElement, events: EditorEvents): EditorView {
  return editor(parent, 'Variables, as JSON', [json(), JSON_FAULTS, ...editing(events)]);
}

export function jsonView(parent: HTMLElement): EditorView {
  const readOnly = [EditorState.readOnly.of(true), EditorView.editable.of(false)];
  return editor(parent, 'Result', [json(), ...readOnly, EditorView.lineWrapping]);
}

export function setText(view: EditorView, text: string): void {
  if (view.state.doc.toString() === text) return;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

function editing({ run, changed }: EditorEvents): Extension[] {
  return [
    REPLACE_SELECTION,
    EditorView.updateListener.of(({ docChanged }) => {
      if (docChanged) changed();
    }),
    history(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ compareCompletions: byName }),
    highlightActiveLine(),
    // Tab leaves the editor, as everywhere on the page.
    keymap.of([
      { key: 'Mod-Enter', run },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
  ];
}

/** `__typename`, which nobody looks for, comes last. */
function byName({ label: one }: Completion, { label: other }: Completion): number {
  const [isMeta, isOtherMeta] = [one.startsWith('__'), other.startsWith('__')];
  return isMeta === isOtherMeta ? one.localeCompare(other) : Number(isMeta) - Number(isOtherMeta);
}

function editor(parent: HTMLElement, label: string, extensions: Extension[]): EditorView {
  // In a shadow root, CodeMirror needs no style element, which the policy of the page refuses.
  const root = parent.attachShadow({ mode: 'open' });
  const view = new EditorView({
    root,
    state: EditorState.create({
      extensions: [
        lineNumbers(),
        // What came with a link may try to look like something else.
        highlightSpecialChars(),
        drawSelection(),
        THEME,
        syntaxHighlighting(COLORS),
        // With tabindex, a keyboard can scroll text that cannot be edited too.
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        extensions,
      ],
    }),
  });
  root.append(view.dom);
  return view;
}

type Range = { from: number; to: number };

/**
 * To join what is left and right of a selection, browsers write style attributes, which the policy
 * of the page refuses. So it is the editor that replaces the selection by what is typed.
 */
export const REPLACE_SELECTION = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    if (inputType !== 'insertText' || data === null || view.composing) return false;
    const { from, to } = selectedRange(view);
    if (from === to) return false;
    const typed = () =>
      view.state.update({
        changes: { from, to, insert: data },
        selection: { anchor: from + data.length },
        scrollIntoView: true,
        userEvent: 'input.type',
      });
    // One of these sets a bracket on both sides of the selection.
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, data, typed))) view.dispatch(typed());
    return true;
  },
});

/**
 * What is selected on the page, which the editor learns later: browsers report a new selection only
 * after the code that made it.
 */
function selectedRange(view: EditorView): Range {
  const { main } = view.state.selection;
  const selection = selectionIn(view.root);
  const { anchorNode, focusNode } = selection ?? {};
  if (!selection || !isIn(view, anchorNode) || !isIn(view, focusNode)) return main;
  const anchor = view.posAtDOM(anchorNode, selection.anchorOffset);
  const focus = view.posAtDOM(focusNode, selection.focusOffset);
  const [from, to] = [Math.min(anchor, focus), Math.max(anchor, focus)];
  // The page has only the lines near the visible ones: a selection can extend beyond them.
  const { viewport } = view;
  return {
    from: from <= viewport.from ? Math.min(from, main.from) : from,
    to: to >= viewport.to ? Math.max(to, main.to) : to,
  };
}

/** In Chromium, it is the shadow root that knows its selection, elsewhere the document. */
function selectionIn(root: DocumentOrShadowRoot): Selection | null {
  // Cast: TypeScript does not know what only Chromium has.
  const { getSelection } = root as { getSelection?: () => Selection | null };
  return getSelection === undefined ? document.getSelection() : getSelection.call(root);
}

function isIn({ contentDOM }: EditorView, node: Node | null | undefined): node is Node {
  return node != null && contentDOM.contains(node);
}
