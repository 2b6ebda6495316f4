import { Column, Entity, PrimaryColumn } from 'typeorm';

export interface StoredTarget {
  revision_id: string;
  revision_name: string;
  weight: number;
}

/** A hold as it is published to the gateways. */
export interface StoredHold {
  max_seconds: number;
  estimated_seconds: number | null;
  since: string;
}

/** A removed route keeps its row, so that generations never repeat. Without targets it counts as no route. */
@Entity({ name: 'routes' })
export class RouteEntity {
  @PrimaryColumn({ type: 'text' })
  deploymentId: string;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'int' })
  generation: number;

  @Column({ type: 'jsonb' })
  targets: StoredTarget[];

  @Column({ type: 'smallint', array: true })
  slots: number[];

  @Column({ type: 'jsonb' })
  affinity: { mode: 'none' | 'soft'; ttl_seconds: number };

  @Column({ type: 'jsonb', nullable: true })
  hold: StoredHold | null;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  @Column({ type: 'jsonb' })
  updatedBy: { type: string; id: string };

  @Column({ type: 'timestamptz', default: () => 'now()' })
  updatedAt: Date;
}

@Entity({ name: 'traffic_owner' })
export class TrafficOwnerEntity {
  @PrimaryColumn({ type: 'text' })
  deploymentId: string;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  operationId: string;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  since: Date;
}
