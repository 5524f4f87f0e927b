// What the contract allows each partner to read, as a model of the smallest kind: maps, and the rules on them (section 4).

export type ModelMember = {
  memberId: string;
  current: string;
  earlier: Set<string>;
  enrollments: Map<string, { externalId?: string }>;
};

export type Enrolling = { partnerId: string; address: string; externalId?: string };

/** Members, their addresses and active enrollments, and what they earned with each partner. */
export class Model {
  readonly members: ModelMember[] = [];
  readonly points = new Map<string, number>();

  /** The member who has an address, current or earlier. */
  ownerOf(address: string): ModelMember | undefined {
    return this.members.find(({ current, earlier }) => current === address || earlier.has(address));
  }

  byEmail(partnerId: string, address: string): ModelMember | undefined {
    const owner = this.ownerOf(address);
    return owner?.enrollments.has(partnerId) ? owner : undefined;
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
  }

  /** What enrolling has to answer, and whether the member is new; nothing where it has to be a conflict. Changes nothing. */
  expectEnrolled({
    partnerId,
    address,
    externalId,
  }: Enrolling): { owner?: ModelMember; created: boolean } | undefined {
    const owner = this.ownerOf(address);
    const active = owner?.enrollments.get(partnerId);
    const holder = externalId === undefined ? undefined : this.byExternalId(partnerId, externalId);
    const isTaken = holder !== undefined && holder !== owner;
    const isOther =
      externalId !== undefined &&
      active?.externalId !== undefined &&
      active.externalId !== externalId;
    return isTaken || isOther ? undefined : { owner, created: active === undefined };
  }

  /** Enrolls what expectEnrolled allows; `memberId` is the one that was answered. */
  enroll({ partnerId, address, externalId }: Enrolling, memberId: string): void {
    let owner = this.ownerOf(address);
    if (owner === undefined) {
      owner = { memberId, current: address, earlier: new Set(), enrollments: new Map() };
      this.members.push(owner);
    }
    const active = owner.enrollments.get(partnerId);
    owner.enrollments.set(partnerId, { externalId: externalId ?? active?.externalId });
  }

  /** Whether there was one to end. */
  end(partnerId: string, memberId: string): boolean {
    return (
      this.members.find((member) => member.memberId === memberId)?.enrollments.delete(partnerId) ??
      false
    );
  }

  /** Sets a member's current address as an import does, taking it over where it is only another's history; false where it is another's current one. */
  move(member: ModelMember, address: string): boolean {
    const owner = this.ownerOf(address);
    if (owner !== undefined && owner !== member && owner.current === address) return false;
    if (owner !== member) owner?.earlier.delete(address);
    if (member.current !== address) member.earlier.add(member.current);
    member.earlier.delete(address);
    member.current = address;
    return true;
  }
}
