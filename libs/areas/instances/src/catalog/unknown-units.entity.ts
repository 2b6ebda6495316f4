import type { UnknownUnits } from '@slipway/target-driver';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Units that no row knows, as the worker that leads the target last saw them. */
@Entity({ name: 'target_unknown_units' })
export class UnknownUnitsEntity {
  @PrimaryColumn({ type: 'text' })
  target: string;

  @Column({ type: 'jsonb' })
  found: UnknownUnits[];

  @Column({ type: 'timestamptz', default: () => 'now()' })
  changed_at: Date;
}
