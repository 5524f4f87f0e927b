// The client of a member, in a browser or anywhere else.
import { eachActivity, type PageOptions } from './activities.ts';
import { type Base, createClient } from './client.ts';
import { authorizeWith, type Credential, TOKEN } from './credential.ts';
import {
  type Activity,
  type ActivitySelection,
  DEFAULTS,
  type Operations,
  SCHEMA,
} from './generated/member.generated.ts';
import { createSender } from './http/sender.ts';
import type { ClientOptions } from './options.ts';
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

/** Whether each mutation may run twice. */
const MUTATIONS: Readonly<Record<keyof typeof SCHEMA.Mutation, boolean>> = {
  requestEmailChange: false,
  confirmEmailChange: false,
  updateProfile: true,
};

/** Throws if `token` is neither an ID token nor a function. */
export function createMemberClient({
  token,
  ...options
}: ClientOptions & { token: Credential }): MemberClient {
  const surface = { schema: SCHEMA, defaults: DEFAULTS, mutations: MUTATIONS };
  const sender = createSender(options, authorizeWith(TOKEN, token));
  const client = createClient<Operations>(surface, sender);

  const more = {
    activities: eachActivity(async (id, activities, call) => {
      const profile = await client.memberProfile({ id }, { ...call, select: { activities } });
      return profile?.activities;
    }),
  };
  return Object.defineProperties(client, Object.getOwnPropertyDescriptors(more)) as MemberClient;
}
