import { rfc3339 } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { PricingDto } from './product.dto.js';

@Entity({ name: 'model_api_products' })
export class ProductEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  display_name: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ type: 'jsonb' })
  modalities: string[];

  @Column({ type: 'int', nullable: true })
  context_length: number | null;

  @Column({ type: 'int', nullable: true })
  max_output_tokens: number | null;

  @Column({ type: 'jsonb' })
  supported_parameters: string[];

  @Column({ type: 'jsonb', nullable: true })
  pricing: PricingDto | null;

  @Column({ type: 'text', default: 'draft' })
  state: 'draft' | 'active' | 'deprecated' | 'retired';

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updated_at: string;
}
