// A minimal model of what each partner may read (docs/callers/members.md, Enrollment).

export type ModelMember = {
  memberId: string;
  current: string;
  earlier: Set<string>;
  enrollments: Map<
    string,
    {
      externalId: string | undefined;
      /** The only addresses that the partner sees and uses: the first was history already. */
      only?: string[] | undefined;
    }
  >;
  /** The partners that ever ended an enrollment. */
  ended: Set<string>;
};

export type Enrolling = { partnerId: string; address: string; externalId?: string | undefined };

/** Members, their addresses and active enrollments, and their points with each partner. */
export class Model {
  readonly members: ModelMember[] = [];
  readonly points = new Map<string, number>();
  readonly earnings: { partnerId: string; memberId: string; points: number }[] = [];

  /** The member whose current or earlier address this is. */
  ownerOf(address: string): ModelMember | undefined {
    return this.members.find(({ current, earlier }) => current === address || earlier.has(address));
  }

  byEmail(partnerId: string, address: string): ModelMember | undefined {
    const owner = this.ownerOf(address);
    const active = owner?.enrollments.get(partnerId);
    return active === undefined || active.only?.includes(address) === false ? undefined : owner;
  }

  /** The address that a partner sees. */
  addressSeen(partnerId: string, { current, enrollments }: ModelMember): string | undefined {
    const only = enrollments.get(partnerId)?.only ?? [current];
    return only.includes(current) ? current : only.at(-1);
  }

  byExternalId(partnerId: string, externalId: string): ModelMember | undefined {
    return this.members.find(
      ({ enrollments }) => enrollments.get(partnerId)?.externalId === externalId,
    );
  }

  pointsOf(partnerId: string, memberId: string): number {
    return this.points.get(`${partnerId} ${memberId}`) ?? 0;
  }

  earn(partnerId: string, memberId: string, points: number): void {
    this.points.set(`${partnerId} ${memberId}`, this.pointsOf(partnerId, memberId) + points);
    this.earnings.push({ partnerId, memberId, points });
  }

  /** What a member earned with some partners, the last one first. */
  earningsOf(partnerIds: string[], of: string): { partnerId: string; points: number }[] {
    return this.earnings
      .filter(({ partnerId, memberId }) => memberId === of && partnerIds.includes(partnerId))
      .map(({ partnerId, points }) => ({ partnerId, points }))
      .reverse();
  }

  /** The expected result of enrolling, or undefined if it must be a conflict. Changes nothing. */
  expectEnrolled({
    partnerId,
    address,
    externalId,
  }: Enrolling): { owner: ModelMember | undefined; created: boolean } | undefined {
    const owner = this.ownerOf(address);
    const active = owner?.enrollments.get(partnerId);
    const holder = externalId === undefined ? undefined : this.byExternalId(partnerId, externalId);
    const isTaken = holder !== undefined && holder !== owner;
    const differs =
      externalId !== undefined &&
      active?.externalId !== undefined &&
      active.externalId !== externalId;
    return isTaken || differs ? undefined : { owner, created: active === undefined };
  }

  /** Enrolls what expectEnrolled allows, under the `memberId` in the service's response. */
  enroll({ partnerId, address, externalId }: Enrolling, memberId: string): void {
    let owner = this.ownerOf(address);
    if (owner === undefined) {
      owner = {
        memberId,
        current: address,
        earlier: new Set(),
        enrollments: new Map(),
        ended: new Set(),
      };
      this.members.push(owner);
    }
    const active = owner.enrollments.get(partnerId);
    const isEarlier = owner.current !== address;
    const only = active ? active.only : isEarlier ? [] : undefined;
    if (only?.includes(address) === false) only.push(address);
    owner.enrollments.set(partnerId, { externalId: externalId ?? active?.externalId, only });
  }

  /** Sets or takes away an external ID, or the code of the error that this must be. */
  rename(
    partnerId: string,
    memberId: string,
    externalId: string | undefined,
  ): 'renamed' | 'MEMBER_NOT_FOUND' | 'EXTERNAL_ID_CONFLICT' {
    const member = this.members.find((one) => one.memberId === memberId);
    const active = member?.enrollments.get(partnerId);
    if (active === undefined) return 'MEMBER_NOT_FOUND';
    const holder = externalId === undefined ? undefined : this.byExternalId(partnerId, externalId);
    if (holder !== undefined && holder !== member) return 'EXTERNAL_ID_CONFLICT';
    active.externalId = externalId;
    return 'renamed';
  }

  /** Whether there is or was an enrollment to end. */
  end(partnerId: string, memberId: string): boolean {
    const member = this.members.find((one) => one.memberId === memberId);
    if (member?.enrollments.delete(partnerId)) member.ended.add(partnerId);
    return member?.ended.has(partnerId) ?? false;
  }

  /**
   * Sets a member's current address as an import does. It takes over another member's earlier
   * address, and returns false if the address is another member's current one.
   */
  move(member: ModelMember, address: string): boolean {
    const owner = this.ownerOf(address);
    if (owner !== undefined && owner !== member && owner.current === address) return false;
    if (owner !== member) this.lose(owner, address);
    if (member.current !== address) member.earlier.add(member.current);
    member.earlier.delete(address);
    member.current = address;
    return true;
  }

  /** Ends the enrollments of partners that may use no other address of the member. */
  private lose(member: ModelMember | undefined, address: string): void {
    member?.earlier.delete(address);
    for (const [partnerId, { only }] of member?.enrollments ?? []) {
      if (only?.includes(address)) only.splice(only.indexOf(address), 1);
      if (member && only?.length === 0) this.end(partnerId, member.memberId);
    }
  }
}
