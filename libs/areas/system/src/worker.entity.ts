import { rfc3339 } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'system_workers' })
export class SystemWorkerEntity {
  @PrimaryColumn({ type: 'text' })
  worker_id: string;

  @Column({ type: 'text' })
  version: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  started_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  seen_at: string;
}
