import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'dataplane_gateways' })
export class DataplaneGatewayEntity {
  @PrimaryColumn({ type: 'text' })
  gateway_id: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  started_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  seen_at: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  stats_until: string | null;
}

@Entity({ name: 'dataplane_followed_routes' })
export class DataplaneFollowedRouteEntity {
  @PrimaryColumn({ type: 'text' })
  gateway_id: string;

  @PrimaryColumn({ type: 'text' })
  deployment_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  generation: number;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updated_at: string;
}

@Entity({ name: 'dataplane_inflight' })
export class DataplaneInflightEntity {
  @PrimaryColumn({ type: 'text' })
  gateway_id: string;

  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'int' })
  in_flight: number;

  @Column({ type: 'int', default: 0 })
  held: number;

  @Column({ type: 'jsonb', nullable: true })
  instances: Record<string, number> | null;

  @Column({ type: 'jsonb', nullable: true })
  silent: Record<string, number> | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  used_at: string | null;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updated_at: string;
}
