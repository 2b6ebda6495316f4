import type { Actor, MediaUrls } from '@slipway/contracts';
import { rfc3339 } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AudienceDto, PublicationBindingDto } from './publication.dto.js';

@Entity({ name: 'model_api_publications' })
export class PublicationEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  product_id: string;

  @Column({ type: 'int' })
  version: number;

  @Column({ type: 'jsonb' })
  bindings: PublicationBindingDto[];

  @Column({ type: 'jsonb' })
  audience: AudienceDto;

  /** Null if a previous release published it. */
  @Column({ type: 'boolean', nullable: true })
  shares_prefix_cache: boolean | null;

  /** Null if a previous release published it. */
  @Column({ type: 'jsonb', nullable: true })
  media_urls: MediaUrls | null;

  @Column({ type: 'text', nullable: true })
  notes: string | null;

  @Column({ type: 'text', default: 'published' })
  state: 'published' | 'superseded' | 'withdrawn';

  @Column({ type: 'jsonb' })
  created_by: Actor;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  ended_at: string | null;
}
