// Decides whether a document is valid, in less time than graphql-js takes to list its errors.
import {
  type ASTNode,
  type ASTVisitFn,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLSchema,
  getEnterLeaveForKind,
  TypeInfo,
  ValidationContext,
  type ValidationRule,
} from 'graphql';
import { isNode, partOf } from './cache/document.ts';

type IsValid = (schema: GraphQLSchema, document: DocumentNode) => boolean;

/**
 * Returns a check of documents against these rules, which must be graphql-js's own: the walk
 * ignores BREAK and edits. `validate` looks up every kind of node in every rule before it begins,
 * which takes longer than the validation of a short document.
 */
export function createIsValid(rules: readonly ValidationRule[]): IsValid {
  // Shared by all documents, since a rule visits the same kinds in each.
  const rulesByKind: RulesByKind = new Map();
  return (schema, document) => {
    const types = new TypeInfo(schema);
    const context = new ValidationContext(schema, document, types, refuse);
    const visitors = rules.map((rule) => rule(context));
    const walk = new Walk(types, visitors, rulesByKind);
    try {
      walk.visit(document, undefined, undefined);
      return true;
    } catch {
      // The first error, or a rule gave up. The caller runs `validate` for the errors.
      return false;
    }
  };
}

function refuse(error: Error): never {
  throw error;
}

/** By kind of node: the indexes of the rules that visit it. */
type RulesByKind = Map<ASTNode['kind'], readonly number[]>;
type Handler = { index: number; visitor: ASTVisitor; visit: ASTVisitFn<ASTNode> };
type Handlers = { enter: readonly Handler[]; leave: readonly Handler[] };
type Parent = ASTNode | readonly ASTNode[];

/** Calls visitors as `visitWithTypeInfo` and `visitInParallel` of graphql-js do together. */
class Walk {
  private readonly types: TypeInfo;
  private readonly visitors: readonly ASTVisitor[];
  private readonly rulesByKind: RulesByKind;
  private readonly handlers = new Map<ASTNode['kind'], Handlers>();
  /** By index of a visitor: the node whose children it skips. */
  private readonly skipped: (ASTNode | undefined)[];
  private readonly path: (string | number)[] = [];
  private readonly ancestors: Parent[] = [];

  constructor(types: TypeInfo, visitors: readonly ASTVisitor[], rulesByKind: RulesByKind) {
    this.types = types;
    this.visitors = visitors;
    this.rulesByKind = rulesByKind;
    this.skipped = visitors.map(() => undefined);
  }

  visit(node: ASTNode, key: string | number | undefined, parent: Parent | undefined): void {
    const { types, skipped, path, ancestors } = this;
    const { enter, leave } = this.handlersOf(node);
    types.enter(node);
    for (const { index, visitor, visit } of enter) {
      if (skipped[index] !== undefined) continue;
      if (visit.call(visitor, node, key, parent, path, ancestors) === false) skipped[index] = node;
    }
    if (parent !== undefined) ancestors.push(parent);
    this.visitChildren(node);
    if (parent !== undefined) ancestors.pop();
    for (const { index, visitor, visit } of leave)
      if (skipped[index] === undefined) visit.call(visitor, node, key, parent, path, ancestors);
    for (const { index } of enter) if (skipped[index] === node) skipped[index] = undefined;
    types.leave(node);
  }

  private visitChildren(node: ASTNode): void {
    for (const name in node) {
      // Descriptions do not count, as in graphql-js's `validate`.
      const part = name === 'description' ? undefined : partOf(node, name);
      if (part === undefined) continue;
      this.path.push(name);
      if (isNode(part)) this.visit(part, name, node);
      else this.visitList(part, node);
      this.path.pop();
    }
  }

  private visitList(list: readonly ASTNode[], parent: ASTNode): void {
    const { path, ancestors } = this;
    ancestors.push(parent);
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index];
      if (item === undefined) continue;
      path.push(index);
      this.visit(item, index, list);
      path.pop();
    }
    ancestors.pop();
  }

  private handlersOf({ kind }: ASTNode): Handlers {
    let handlers = this.handlers.get(kind);
    if (handlers === undefined) {
      handlers = this.findHandlers(kind);
      this.handlers.set(kind, handlers);
    }
    return handlers;
  }

  private findHandlers(kind: ASTNode['kind']): Handlers {
    const enter: Handler[] = [];
    const leave: Handler[] = [];
    for (const index of this.rulesOf(kind)) {
      const visitor = this.visitors[index];
      if (visitor === undefined) continue;
      const found = getEnterLeaveForKind(visitor, kind);
      if (found.enter) enter.push({ index, visitor, visit: found.enter });
      if (found.leave) leave.push({ index, visitor, visit: found.leave });
    }
    return { enter, leave };
  }

  private rulesOf(kind: ASTNode['kind']): readonly number[] {
    let indexes = this.rulesByKind.get(kind);
    if (indexes === undefined) {
      indexes = [...this.visitors.keys()].filter((index) => {
        const { enter, leave } = getEnterLeaveForKind(this.visitors[index] ?? {}, kind);
        return enter !== undefined || leave !== undefined;
      });
      this.rulesByKind.set(kind, indexes);
    }
    return indexes;
  }
}
