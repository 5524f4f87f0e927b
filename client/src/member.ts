// The client of a member, in a browser or anywhere else.
import { eachActivity, type PageOptions, pageAfter } from './activities.ts';
import { type Base, createClient } from './client.ts';
import { authorizeWithToken, type Credential } from './credential.ts';
import {
  type Activity,
  type ActivitySelection,
  DEFAULTS,
  type Operations,
  SCHEMA,
} from './generated/member.generated.ts';
import { createSender } from './http/sender.ts';
import type { ClientOptions } from './options.ts';
import { MEMBER_MUTATIONS } from './repeatable.ts';
import type { OnlyOf, Selected } from './surface/operation.ts';

export type MemberClient = Operations &
  Base & {
    /**
     * All activities of the member with this ID, newest first. Each page is a request, made when it
     * is needed.
     */
    activities(id: string, options?: PageOptions): AsyncGenerator<Activity, void, undefined>;
    activities<const S extends ActivitySelection>(
      id: string,
      options: PageOptions & { select: S & OnlyOf<S, ActivitySelection> },
    ): AsyncGenerator<Selected<Activity, S>, void, undefined>;
  };

/** Throws if `token` is neither an ID token nor a function. */
export function createMemberClient({
  token,
  ...options
}: ClientOptions & { token: Credential }): MemberClient {
  const surface = { schema: SCHEMA, defaults: DEFAULTS, mutations: MEMBER_MUTATIONS };
  const sender = createSender(options, authorizeWithToken(token));
  const client = createClient<Operations>(surface, sender);

  const more = {
    activities(
      id: string,
      { pageSize, select, ...call }: PageOptions & { select?: ActivitySelection } = {},
    ) {
      return eachActivity(async (after) => {
        const activities = pageAfter(after, { pageSize, select });
        const profile = await client.memberProfile({ id }, { ...call, select: { activities } });
        return profile?.activities;
      });
    },
  };
  return Object.defineProperties(client, Object.getOwnPropertyDescriptors(more)) as MemberClient;
}
