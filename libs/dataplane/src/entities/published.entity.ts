import type { MediaUrls } from '@slipway/contracts';
import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type {
  Affinity,
  BackendSleep,
  Audience,
  AddressGuard,
  PublishedInstance,
  PublishedBinding,
  PublishedHold,
  RouteDestination,
} from '../publishing/published.js';

@Entity({ name: 'dataplane_routes' })
export class DataplaneRouteEntity {
  @PrimaryColumn({ type: 'text' })
  deployment_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  deployment_name: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  generation: number;

  @Column({ type: 'smallint', array: true })
  slots: number[];

  @Column({ type: 'jsonb' })
  targets: RouteDestination[];

  @Column({ type: 'jsonb' })
  affinity: Affinity;

  @Column({ type: 'jsonb', nullable: true })
  hold: PublishedHold | null;

  @Column({ type: 'jsonb', nullable: true })
  media_urls: MediaUrls | null;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updated_at: string;
}

@Entity({ name: 'dataplane_backends' })
export class DataplaneBackendEntity {
  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  deployment_id: string;

  @Column({ type: 'text' })
  revision_name: string;

  @Column({ type: 'text' })
  model_id: string;

  @Column({ type: 'jsonb' })
  instances: PublishedInstance[];

  @Column({ type: 'text', nullable: true })
  credential: string | null;

  @Column({ type: 'jsonb', nullable: true })
  guard: AddressGuard;

  @Column({ type: 'jsonb', nullable: true })
  asleep: BackendSleep | null;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 1 })
  version: number;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updated_at: string;
}

@Entity({ name: 'dataplane_published' })
export class DataplanePublishedEntity {
  @PrimaryColumn({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  product_id: string;

  @Column({ type: 'jsonb' })
  bindings: PublishedBinding[];

  @Column({ type: 'jsonb' })
  audience: Audience;

  @Column({ type: 'jsonb', nullable: true })
  media_urls: MediaUrls | null;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 1 })
  version: number;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updated_at: string;
}
