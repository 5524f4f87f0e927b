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
import { REPLACE_SELECTION } from './replace.ts';

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
