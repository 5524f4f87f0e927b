// Texts with placeholders, which stand apart from the code, in a JSON file for each language.

/** The text with the values instead of their names in braces. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
}
