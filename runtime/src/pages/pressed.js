// Shows that a button was pressed, and keeps its form from being sent again meanwhile.
const reset = () => {
  for (const one of document.querySelectorAll('[aria-disabled]'))
    one.removeAttribute('aria-disabled');
};
addEventListener('submit', (event) => {
  if (event.target.hasAttribute('aria-disabled')) return event.preventDefault();
  for (const one of [event.target, event.submitter]) one?.setAttribute('aria-disabled', 'true');
  // Whoever stops the page from loading can try again.
  setTimeout(reset, 10_000);
});
addEventListener('pageshow', reset);
