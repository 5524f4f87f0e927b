// One validation rule made of many, for documents that are validated only once.
import {
  type ASTNode,
  type ASTVisitFn,
  type ASTVisitor,
  BREAK,
  getEnterLeaveForKind,
  type ValidationRule,
} from 'graphql';

/**
 * A rule that reports what all of these report, in the same order. graphql-js looks up every kind
 * of node in every rule before it validates a document, which takes longer than the validation of a
 * short one; this looks up the kinds that the document has.
 */
export function inOneRule(rules: readonly ValidationRule[]): ValidationRule {
  return (context) => inOneVisitor(rules.map((rule) => rule(context)));
}

type Handler = { place: number; visitor: ASTVisitor; visit: ASTVisitFn<ASTNode> };
type Handlers = { enter: readonly Handler[]; leave: readonly Handler[] };

/** As `visitInParallel` of graphql-js, for visitors that edit nothing. */
function inOneVisitor(visitors: readonly ASTVisitor[]): ASTVisitor {
  const byKind = new Map<ASTNode['kind'], Handlers>();
  /** By the place of a visitor: the node whose inside it skips, or BREAK for all that follows. */
  const skipped = new Map<number, unknown>();
  const handlersOf = ({ kind }: ASTNode): Handlers => {
    const known = byKind.get(kind) ?? findHandlers(visitors, kind);
    byKind.set(kind, known);
    return known;
  };
  return {
    enter(node, ...where) {
      for (const { place, visitor, visit } of handlersOf(node).enter) {
        if (skipped.has(place)) continue;
        const result: unknown = visit.call(visitor, node, ...where);
        if (result === false) skipped.set(place, node);
        else if (result === BREAK) skipped.set(place, BREAK);
      }
    },
    leave(node, ...where) {
      for (const { place, visitor, visit } of handlersOf(node).leave) {
        if (skipped.has(place)) continue;
        if (visit.call(visitor, node, ...where) === BREAK) skipped.set(place, BREAK);
      }
      for (const [place, from] of skipped) if (from === node) skipped.delete(place);
    },
  };
}

function findHandlers(visitors: readonly ASTVisitor[], kind: ASTNode['kind']): Handlers {
  const enter: Handler[] = [];
  const leave: Handler[] = [];
  for (const [place, visitor] of visitors.entries()) {
    const found = getEnterLeaveForKind(visitor, kind);
    if (found.enter) enter.push({ place, visitor, visit: found.enter });
    if (found.leave) leave.push({ place, visitor, visit: found.leave });
  }
  return { enter, leave };
}
