import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A target as a whole, as the worker that leads it saw it last. */
@Entity({ name: 'target_health' })
export class TargetHealthEntity {
  @PrimaryColumn({ type: 'text' })
  target: string;

  @Column({ type: 'text', nullable: true })
  problem: string | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  changed_at: Date;
}
