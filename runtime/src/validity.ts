// Says whether a document is valid, in less time than graphql-js, which says what is wrong with it.
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

export type IsValid = (schema: GraphQLSchema, document: DocumentNode) => boolean;

/**
 * Returns a function that says whether a document breaks none of these rules, each one of
 * graphql-js. Its `validate` looks up all kinds of nodes in all rules before it begins, which
 * takes longer than the validation of a short document.
 */
export function createIsValid(rules: readonly ValidationRule[]): IsValid {
  // The same for all documents.
  const concerned: Concerned = new Map();
  return (schema, document) => {
    const types = new TypeInfo(schema);
    const context = new ValidationContext(schema, document, types, refuse);
    const visitors = rules.map((rule) => rule(context));
    const walk = new Walk(types, visitors, concerned);
    try {
      walk.visit(document, undefined, undefined);
      return true;
    } catch {
      // At the first error, or graphql-js has given up: it will say so again if it is asked.
      return false;
    }
  };
}

function refuse(error: Error): never {
  throw error;
}

/** By kind of node: the places of the rules that hear of it. */
type Concerned = Map<ASTNode['kind'], readonly number[]>;
type Handler = { place: number; visitor: ASTVisitor; visit: ASTVisitFn<ASTNode> };
type Handlers = { enter: readonly Handler[]; leave: readonly Handler[] };
type Parent = ASTNode | readonly ASTNode[];

/** Calls visitors as `visitWithTypeInfo` and `visitInParallel` of graphql-js do together. */
class Walk {
  private readonly types: TypeInfo;
  private readonly visitors: readonly ASTVisitor[];
  private readonly concerned: Concerned;
  private readonly handlers = new Map<ASTNode['kind'], Handlers>();
  /** By the place of a visitor: the node whose inside it skips. */
  private readonly skipped: (ASTNode | undefined)[];
  private readonly path: (string | number)[] = [];
  private readonly ancestors: Parent[] = [];

  constructor(types: TypeInfo, visitors: readonly ASTVisitor[], concerned: Concerned) {
    this.types = types;
    this.visitors = visitors;
    this.concerned = concerned;
    this.skipped = visitors.map(() => undefined);
  }

  visit(node: ASTNode, key: string | number | undefined, parent: Parent | undefined): void {
    const { types, skipped, path, ancestors } = this;
    const { enter, leave } = this.handlersOf(node);
    types.enter(node);
    for (const { place, visitor, visit } of enter) {
      if (skipped[place] !== undefined) continue;
      if (visit.call(visitor, node, key, parent, path, ancestors) === false) skipped[place] = node;
    }
    if (parent !== undefined) ancestors.push(parent);
    this.visitChildren(node);
    if (parent !== undefined) ancestors.pop();
    for (const { place, visitor, visit } of leave)
      if (skipped[place] === undefined) visit.call(visitor, node, key, parent, path, ancestors);
    for (const { place } of enter) if (skipped[place] === node) skipped[place] = undefined;
    types.leave(node);
  }

  private visitChildren(node: ASTNode): void {
    for (const name in node) {
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
    for (const place of this.placesOf(kind)) {
      const visitor = this.visitors[place];
      if (visitor === undefined) continue;
      const found = getEnterLeaveForKind(visitor, kind);
      if (found.enter) enter.push({ place, visitor, visit: found.enter });
      if (found.leave) leave.push({ place, visitor, visit: found.leave });
    }
    return { enter, leave };
  }

  private placesOf(kind: ASTNode['kind']): readonly number[] {
    let places = this.concerned.get(kind);
    if (places === undefined) {
      places = [...this.visitors.keys()].filter((place) => {
        const { enter, leave } = getEnterLeaveForKind(this.visitors[place] ?? {}, kind);
        return enter !== undefined || leave !== undefined;
      });
      this.concerned.set(kind, places);
    }
    return places;
  }
}
