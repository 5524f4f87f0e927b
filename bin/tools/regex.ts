// Checks that regular expressions take time linear in their input, for `npm run check`.
import { parseSync } from '@swc/core';
import { analyse } from 'scslre';

/** How the expressions of a source break the rule, a line each. */
export function superlinear({ path, text }: { path: string; text: string }): string[] {
  const found: string[] = [];
  visit(parseSync(text, { syntax: 'typescript', target: 'es2022' }), (node) => {
    if (node.type === 'RegExpLiteral') {
      const expression = `/${node.pattern}/${node.flags}`;
      for (const reason of reasonsOf(String(node.pattern), String(node.flags)))
        found.push(`${path}: ${expression} is not linear: ${reason}`);
    }
    if (isConstructed(node))
      found.push(`${path}: an expression that is built at run time cannot be checked`);
  });
  return found;
}

/**
 * An expression is searched for from every character unless it is anchored, so a part of it that
 * reads on before it fails makes the search quadratic: such a part is a `Move`. The other types are
 * two parts that can divide the same text among them in several ways.
 */
function reasonsOf(source: string, flags: string): string[] {
  const { reports } = analyse({ source, flags });
  return reports.map(
    ({ type, exponential }) => `${exponential ? 'exponential' : 'polynomial'} (${type})`,
  );
}

type Node = { readonly [name: string]: unknown };

function isConstructed({ type, callee }: Node): boolean {
  if (type !== 'NewExpression' && type !== 'CallExpression') return false;
  return isNode(callee) && callee.type === 'Identifier' && callee.value === 'RegExp';
}

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, onNode);
  if (!isNode(value)) return;
  onNode(value);
  for (const child of Object.values(value)) visit(child, onNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
