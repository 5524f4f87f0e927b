// A button that copies a text.
import { element } from './dom.ts';

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
