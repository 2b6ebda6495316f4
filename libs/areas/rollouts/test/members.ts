import type { Tx } from '@slipway/platform-database';
import type { Member, MemberGeneration, RevisionMembers, Workload } from '@slipway/ports/instances';

const READY = { state: 'ready' as const, message: null, reason: null, failure: null, failedStarts: 0, progress: null };

/** The instances of revisions, as restarts see them. By default each start is ready at once. */
export class Members {
  readonly adopted = new Set<string>();
  /** Whether the target has capacity for one more instance. */
  hasCapacity = true;
  /** Whether the next generation of an instance gets ready. */
  startsWork = true;
  /** Each replaced instance, with the limit of its drain. */
  readonly replaced: [string, number][] = [];
  private readonly of = new Map<string, Member[]>();
  private readonly spares = new Set<string>();

  /** Gives a revision instances that are ready. */
  set(revisionId: string, count: number): Member[] {
    const members = Array.from({ length: count }, (_, ordinal) => this.newMember(revisionId, ordinal, false));
    this.of.set(revisionId, members);
    return members;
  }

  get(revisionId: string): Member[] {
    return this.of.get(revisionId) ?? this.set(revisionId, 1);
  }

  readonly port = {
    isAdopted: ({ model }: Workload['spec']): boolean => this.adopted.has(model.id),
    members: async (_tx: Tx, id: string): Promise<RevisionMembers> => ({
      hasSpare: this.spares.has(id),
      members: this.get(id).map((member) => ({ ...member })),
    }),
    addSpare: async (_tx: Tx, { revisionId }: Workload): Promise<void> => {
      if (!this.hasCapacity || this.spares.has(revisionId)) return;
      this.spares.add(revisionId);
      const members = this.get(revisionId);
      members.push(this.newMember(revisionId, members.length, true));
    },
    removeSpare: async (_tx: Tx, id: string): Promise<void> => {
      this.spares.delete(id);
      this.of.set(
        id,
        this.get(id).filter(({ isSpare }) => !isSpare),
      );
    },
    replace: async (_tx: Tx, id: string, { id: member, generation }: MemberGeneration, seconds: number) => {
      const found = this.get(id).find((one) => one.id === member && one.generation === generation);
      if (!found) return;
      this.replaced.push([member, seconds]);
      found.generation += 1;
      found.state = this.startsWork ? 'ready' : 'starting';
    },
  };

  private newMember(revisionId: string, ordinal: number, isSpare: boolean): Member {
    return { ...READY, id: `ins_${revisionId}_${ordinal}`, ordinal, generation: 1, isSpare, isReplaced: false };
  }
}
