// Prints documents as short as they can be, for use as keys.
import {
  type ArgumentNode,
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  Kind,
  type ObjectFieldNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  stripIgnoredCharacters,
  type TypeNode,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql';

/**
 * The text of an executable document without ignored tokens (GraphQL, section 2.1.7): what
 * stripIgnoredCharacters(print(document)) returns if there are no descriptions, in a quarter of the
 * time. Throws on definitions of types.
 */
export function compactText({ definitions }: DocumentNode): string {
  const text = new CompactText();
  for (const definition of definitions) text.definition(definition);
  flatten(text.text);
  return text.text;
}

// V8 keeps a string that was built piece by piece as a tree of its pieces, ten times as large,
// until something reads it.
function flatten(text: string): void {
  Number(text);
}

class CompactText {
  text = '';
  /** Whether the last token was a name or a value, from which the next one must be separated. */
  private afterWord = false;

  definition(node: DefinitionNode): void {
    if (node.kind === Kind.OPERATION_DEFINITION) {
      const { operation, name, variableDefinitions = [], directives = [], selectionSet } = node;
      const isBare = name === undefined && variableDefinitions.length + directives.length === 0;
      if (operation !== 'query' || !isBare) this.word(operation);
      if (name !== undefined) this.word(name.value);
      this.list('(', variableDefinitions, this.variableDefinition, ')');
      this.directives(directives);
      this.selectionSet(selectionSet);
    } else if (node.kind === Kind.FRAGMENT_DEFINITION) {
      this.word('fragment');
      this.word(node.name.value);
      this.word('on');
      this.word(node.typeCondition.name.value);
      this.directives(node.directives);
      this.selectionSet(node.selectionSet);
    } else {
      throw new Error(`${node.kind} is not executable`);
    }
  }

  private word(word: string): void {
    this.text += this.afterWord ? ` ${word}` : word;
    this.afterWord = true;
  }

  private mark(mark: string): void {
    this.text += mark;
    this.afterWord = false;
  }

  /** Without its brackets if it is empty. */
  private list<T>(
    open: string,
    items: readonly T[] | undefined,
    print: (item: T) => void,
    close: string,
  ): void {
    if (items === undefined || items.length === 0) return;
    this.mark(open);
    for (const item of items) print.call(this, item);
    this.mark(close);
  }

  private selectionSet({ selections }: SelectionSetNode): void {
    this.list('{', selections, this.selection, '}');
  }

  private selection(node: SelectionNode): void {
    if (node.kind === Kind.FIELD) {
      if (node.alias !== undefined) {
        this.word(node.alias.value);
        this.mark(':');
      }
      this.word(node.name.value);
      this.list('(', node.arguments, this.named, ')');
      this.directives(node.directives);
      if (node.selectionSet !== undefined) this.selectionSet(node.selectionSet);
      return;
    }
    // A number could go on with a dot.
    this.mark(this.afterWord ? ' ...' : '...');
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      this.word(node.name.value);
      this.directives(node.directives);
      return;
    }
    if (node.typeCondition !== undefined) {
      this.word('on');
      this.word(node.typeCondition.name.value);
    }
    this.directives(node.directives);
    this.selectionSet(node.selectionSet);
  }

  private directives(directives: readonly DirectiveNode[] = []): void {
    for (const { name, arguments: args } of directives) {
      this.mark('@');
      this.word(name.value);
      this.list('(', args, this.named, ')');
    }
  }

  private named({ name, value }: ArgumentNode | ObjectFieldNode): void {
    this.word(name.value);
    this.mark(':');
    this.value(value);
  }

  private variableDefinition(node: VariableDefinitionNode): void {
    this.value(node.variable);
    this.mark(':');
    this.type(node.type);
    if (node.defaultValue !== undefined) {
      this.mark('=');
      this.value(node.defaultValue);
    }
    this.directives(node.directives);
  }

  private type(node: TypeNode): void {
    switch (node.kind) {
      case Kind.NAMED_TYPE:
        this.word(node.name.value);
        break;
      case Kind.LIST_TYPE:
        this.mark('[');
        this.type(node.type);
        this.mark(']');
        break;
      case Kind.NON_NULL_TYPE:
        this.type(node.type);
        this.mark('!');
        break;
    }
  }

  private value(node: ValueNode): void {
    switch (node.kind) {
      case Kind.VARIABLE:
        this.mark('$');
        this.word(node.name.value);
        break;
      case Kind.INT:
      case Kind.FLOAT:
      case Kind.ENUM:
        this.word(node.value);
        break;
      case Kind.STRING:
        this.word(stripIgnoredCharacters(print(node)));
        break;
      case Kind.BOOLEAN:
        this.word(node.value ? 'true' : 'false');
        break;
      case Kind.NULL:
        this.word('null');
        break;
      case Kind.LIST:
        this.mark('[');
        for (const value of node.values) this.value(value);
        this.mark(']');
        break;
      case Kind.OBJECT:
        this.mark('{');
        for (const field of node.fields) this.named(field);
        this.mark('}');
        break;
    }
  }
}
