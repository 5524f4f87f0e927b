// The client of partners, on their servers.
import { eachActivity, type PageOptions } from './activities.ts';
import { type Base, createClient } from './client.ts';
import { authorizeWith, type Credential, KEY, refuseBrowser } from './credential.ts';
import {
  type Activity,
  type ActivitySelection,
  DEFAULTS,
  type MemberKey,
  type Operations,
  type PartnerMemberRead,
  type PartnerMemberReadSelection,
  SCHEMA,
} from './generated/partner.generated.ts';
import { createSender } from './http/sender.ts';
import { batchesOf, moved } from './lookups.ts';
import type { ClientOptions } from './options.ts';
import type { CallOptions, OnlyOf, Selected } from './surface/operation.ts';

type Member = Selected<PartnerMemberRead, typeof DEFAULTS.PartnerMemberRead>;

type LookUpOptions = CallOptions & { select?: PartnerMemberReadSelection };

export type PartnerClient = Operations &
  Base & {
    /**
     * Looks up any number of members. The result has an entry for each key, in their order: the
     * member, or null if there is none. Sends a request for every 100 keys, one after the other.
     */
    lookUpMembers(keys: readonly MemberKey[], options?: CallOptions): Promise<(Member | null)[]>;
    lookUpMembers<const S extends PartnerMemberReadSelection>(
      keys: readonly MemberKey[],
      options: CallOptions & { select: S & OnlyOf<S, PartnerMemberReadSelection> },
    ): Promise<(Selected<PartnerMemberRead, S> | null)[]>;
    /** All activities of a member, newest first. Each page is a request, made when it is needed. */
    activities(memberId: string, options?: PageOptions): AsyncGenerator<Activity, void, undefined>;
    activities<const S extends ActivitySelection>(
      memberId: string,
      options: PageOptions & { select: S & OnlyOf<S, ActivitySelection> },
    ): AsyncGenerator<Selected<Activity, S>, void, undefined>;
  };

/**
 * Which mutations may be sent again if it is unknown whether the first one arrived. Every mutation
 * of the schema has a row, or this does not compile: true if running it twice has the effect of
 * running it once.
 */
export const PARTNER_MUTATIONS: Readonly<Record<keyof typeof SCHEMA.Mutation, boolean>> = {
  enrollMember: true,
  // An activity is counted once for its ID.
  recordActivities: true,
  endEnrollment: true,
  changeExternalId: true,
  updateMember: true,
  // These send a mail each time.
  inviteMember: false,
  requestMagicLink: false,
  // A token works once: a second call fails even if the first one signed the member in.
  exchangeMagicLink: false,
};

/**
 * Throws if it runs in a browser, since a partner key must stay on a server, or if `key` is neither
 * a partner key nor a function.
 */
export function createPartnerClient({
  key,
  ...options
}: ClientOptions & { key: Credential }): PartnerClient {
  refuseBrowser();
  const surface = { schema: SCHEMA, defaults: DEFAULTS, mutations: PARTNER_MUTATIONS };
  const sender = createSender(options, authorizeWith(KEY, key));
  const client = createClient<Operations>(surface, sender);

  const more = {
    async lookUpMembers(
      keys: readonly MemberKey[],
      { select = DEFAULTS.PartnerMemberRead, ...call }: LookUpOptions = {},
    ) {
      // Cast: the type of `lookUpMembers` says what the members have.
      const selection = { member: select as typeof DEFAULTS.PartnerMemberRead };
      const members: (Member | null)[] = [];
      for (const batch of batchesOf(keys)) {
        const found = await client
          .memberLookups({ keys: batch }, { ...call, select: selection })
          .catch((error: unknown) => {
            throw moved(error, members.length);
          });
        members.push(...found.map(({ member }) => member));
      }
      return members;
    },
    activities: eachActivity(async (memberId, activities, call) => {
      const member = await client.memberById({ memberId }, { ...call, select: { activities } });
      return member?.activities;
    }),
  };
  return Object.defineProperties(client, Object.getOwnPropertyDescriptors(more)) as PartnerClient;
}
