// Copies a text, and finds and makes elements of the page.

const COPIED_MS = 2_000;

/** Browsers allow copying only on a page that came over TLS or from this machine. */
export const canCopy = isSecureContext;

/** The button says whether it copied. Without a text it does nothing. */
export function copyButton(
  name: string,
  look: 'copy' | 'quiet',
  textOf: () => string | undefined,
): HTMLElement {
  const button = element('button', { type: 'button', class: look, 'aria-live': 'polite' }, name);
  button.addEventListener('click', async () => {
    const text = textOf();
    if (text === undefined) return;
    button.textContent = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    );
    setTimeout(() => {
      button.textContent = name;
    }, COPIED_MS);
  });
  return button;
}

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
