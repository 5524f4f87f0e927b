// Pages of the provider, which the gateway renders: they leave as JSON with a header that says so.
import type { IdentityPage, PageContent } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { KoaContextWithOIDC as Context, ErrorOut } from 'oidc-provider';

export const PAGE_HEADER = 'x-identity-page';

export function show(ctx: Context, status: number, page: IdentityPage): void {
  ctx.status = status;
  ctx.type = 'json';
  ctx.set(PAGE_HEADER, 'yes');
  ctx.set('cache-control', 'no-store');
  ctx.body = JSON.stringify(page);
}

/** A page without a form. */
export function say(
  ctx: Context,
  status: number,
  message: Extract<PageContent, { name: 'message' }>['message'],
  detail?: string,
): void {
  show(ctx, status, { action: ctx.path, name: 'message', message, ...(detail && { detail }) });
}

/** What oidc-provider shows instead of sending a browser back to an app that it does not trust. */
export function showError(ctx: Context, out: ErrorOut, error: Error): void {
  if (out.error === 'server_error') say(ctx, 500, 'unavailable');
  else if (error.name === 'SessionNotFound' || ctx.path.endsWith('/confirm'))
    say(ctx, 400, 'expired');
  else say(ctx, ctx.status, 'appRefused', out.error_description);
}
