// The public list of the client.
export type { Credential } from './credential.ts';
export {
  type CallError,
  type ErrorCode,
  isCallError,
  type OwnCode,
  PartnerLoyaltyError,
  type ServiceCode,
} from './errors.ts';
export type { EventIterator } from './events.ts';
export type * as Member from './generated/member.generated.ts';
export type * as Partner from './generated/partner.generated.ts';
export type { Limits } from './http/response.ts';
export { createMemberClient, type MemberClient } from './member.ts';
export type { ClientOptions, RequestOptions, RequestResult, ResponseEvent } from './options.ts';
export { createPartnerClient, type PartnerClient } from './partner.ts';
export type { CallOptions, Operation, Selected } from './surface/operation.ts';
export { verifyWebhook, type Webhook, WebhookError, type WebhookHeaders } from './webhooks.ts';
