// Replaces a selection that is typed over, before the browser does.
import { EditorView } from '@codemirror/view';

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
