// The facts of the reference: error codes and limits, from the code that uses them.
import { WINDOW_SECONDS } from '@partner-loyalty/gateway/budget/limiter.ts';
import { MAX_ITEMS } from '@partner-loyalty/gateway/document/lists.ts';
import { LIMITS } from '@partner-loyalty/gateway/document/measure.ts';
import { MAX_RESPONSE_BYTES } from '@partner-loyalty/gateway/document/responsesize.ts';
import { BODY_LIMIT } from '@partner-loyalty/gateway/edge/body.ts';
import { MEMBER_BUDGET } from '@partner-loyalty/gateway/identity/authenticate.ts';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { inline } from './prose.ts';

export function errorsList(): Html {
  const entries = Object.entries(ERRORS).map(
    ([code, { status, when }]) => html`<dt id="${code}"><code><b>${code}</b></code>
<span class="kind">${status}</span></dt>
<dd><p>${inline(when)}</p></dd>`,
  );
  return html`<dl class="fields">${entries}</dl>`;
}

export type Budget = { budget: number; windowSeconds: number };

export function limitsTable({ budget, windowSeconds }: Budget): Html {
  const rows = [
    ['root fields of a partner key, unless agreed otherwise', `${budget} in ${windowSeconds} s`],
    ['root fields of a member', `${MEMBER_BUDGET} in ${WINDOW_SECONDS.member} s`],
    ['bytes in a request body', number(BODY_LIMIT)],
    ['bytes in a response', number(MAX_RESPONSE_BYTES)],
    ['tokens in a document', number(LIMITS.tokens)],
    ['root fields in an operation', number(LIMITS.rootFields)],
    ['selections, fragments expanded', number(LIMITS.selections)],
    ['depth of nested fields', number(LIMITS.depth)],
    ['characters in a name', number(LIMITS.name)],
    ['items of a list argument', number(MAX_ITEMS)],
  ].map(([what = '', most = '']) => html`<tr><th scope="row">${what}</th><td>${most}</td></tr>`);
  return html`<table aria-labelledby="limits">
<thead><tr><th scope="col">What</th><th scope="col">At most</th></tr></thead>
<tbody>${rows}</tbody>
</table>`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
