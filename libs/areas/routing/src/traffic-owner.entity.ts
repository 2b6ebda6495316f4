import { Column, Entity, PrimaryColumn } from 'typeorm';

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
