// The client of a member, in a browser or anywhere else.
import { eachActivity, PAGE, PAGE_SIZE } from './activities.ts';
import { type Base, createClient } from './client.ts';
import { authorizeWithToken, type Credential } from './credential.ts';
import { type Activity, DEFAULTS, type Operations, SCHEMA } from './generated/member.generated.ts';
import { createSender } from './http/sender.ts';
import type { ClientOptions } from './options.ts';
import { MEMBER_MUTATIONS } from './repeatable.ts';
import type { CallOptions } from './surface/operation.ts';

export type MemberClient = Operations &
  Base & {
    /**
     * All activities of the member with this ID, newest first. Each page is a request, made when it
     * is needed.
     */
    activities(
      id: string,
      options?: CallOptions & { pageSize?: number },
    ): AsyncGenerator<Activity, void, undefined>;
  };

export function createMemberClient({
  token,
  ...options
}: ClientOptions & { token: Credential }): MemberClient {
  const surface = { schema: SCHEMA, defaults: DEFAULTS, mutations: MEMBER_MUTATIONS };
  const sender = createSender(options, () => authorizeWithToken(token));
  const client = createClient<Operations>(surface, sender);

  const more = {
    activities(
      id: string,
      { pageSize = PAGE_SIZE, ...call }: CallOptions & { pageSize?: number } = {},
    ) {
      return eachActivity(async (after) => {
        const select = { activities: { ...PAGE, $arguments: { first: pageSize, after } } } as const;
        const profile = await client.memberProfile({ id }, { ...call, select });
        return profile?.activities;
      });
    },
  };
  return Object.defineProperties(client, Object.getOwnPropertyDescriptors(more)) as MemberClient;
}
