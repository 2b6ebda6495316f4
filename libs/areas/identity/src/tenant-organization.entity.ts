import { Entity, PrimaryColumn } from 'typeorm';

/** Only the system writes it: a tenant sees its own rows and changes none. */
@Entity({ name: 'tenant_organizations' })
export class TenantOrganizationEntity {
  @PrimaryColumn({ type: 'text' })
  provider: string;

  @PrimaryColumn({ type: 'text' })
  external_organization_id: string;

  @PrimaryColumn({ type: 'text' })
  tenant_id: string;
}
