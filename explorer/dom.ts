// Elements of the page: those it comes with, and new ones whose text is never read as HTML.

/** The element of the page with this ID. Throws if the page has none of this kind. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${id}`);
  return element;
}

/** A new element with attributes and content. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...content: (Node | string)[]
): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...content);
  return made;
}
