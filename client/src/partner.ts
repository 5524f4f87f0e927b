// The client of partners, on their servers.
import { eachActivity, PAGE, PAGE_SIZE } from './activities.ts';
import { type Base, createClient } from './client.ts';
import { authorizeWithKey, type Credential, refuseBrowser } from './credential.ts';
import {
  type Activity,
  DEFAULTS,
  type MemberKey,
  type Operations,
  type PartnerMemberRead,
  SCHEMA,
} from './generated/partner.generated.ts';
import { createSender } from './http/sender.ts';
import { batchesOf, moved } from './lookups.ts';
import type { ClientOptions } from './options.ts';
import { PARTNER_MUTATIONS } from './repeatable.ts';
import type { CallOptions, Selected } from './surface/operation.ts';

type Member = Selected<PartnerMemberRead, typeof DEFAULTS.PartnerMemberRead>;

export type PartnerClient = Operations &
  Base & {
    /**
     * Looks up any number of members. The result has an entry for each key, in their order: the
     * member, or null if there is none. Sends a request for every 100 keys, one after the other.
     */
    lookUpMembers(keys: readonly MemberKey[], options?: CallOptions): Promise<(Member | null)[]>;
    /** All activities of a member, newest first. Each page is a request, made when it is needed. */
    activities(
      memberId: string,
      options?: CallOptions & { pageSize?: number },
    ): AsyncGenerator<Activity, void, undefined>;
  };

/** Throws in a browser: a partner key does not belong there. */
export function createPartnerClient({
  key,
  ...options
}: ClientOptions & { key: Credential }): PartnerClient {
  refuseBrowser();
  const surface = { schema: SCHEMA, defaults: DEFAULTS, mutations: PARTNER_MUTATIONS };
  const sender = createSender(options, () => authorizeWithKey(key));
  const client = createClient<Operations>(surface, sender);

  const more = {
    async lookUpMembers(keys: readonly MemberKey[], call?: CallOptions) {
      const members: (Member | null)[] = [];
      for (const batch of batchesOf(keys)) {
        const found = await client.memberLookups({ keys: batch }, call).catch((error: unknown) => {
          throw moved(error, members.length);
        });
        members.push(...found.map(({ member }) => member));
      }
      return members;
    },
    activities(
      memberId: string,
      { pageSize = PAGE_SIZE, ...call }: CallOptions & { pageSize?: number } = {},
    ) {
      return eachActivity(async (after) => {
        const select = { activities: { ...PAGE, $arguments: { first: pageSize, after } } } as const;
        const member = await client.memberById({ memberId }, { ...call, select });
        return member?.activities;
      });
    },
  };
  return Object.defineProperties(client, Object.getOwnPropertyDescriptors(more)) as PartnerClient;
}
