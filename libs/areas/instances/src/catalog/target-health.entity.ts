import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The health of a target, as the worker that leads it last saw it. */
@Entity({ name: 'target_health' })
export class TargetHealthEntity {
  @PrimaryColumn({ type: 'text' })
  target: string;

  @Column({ type: 'text', nullable: true })
  problem: string | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  changed_at: Date;
}
