import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An accelerator of a target's host, as last seen. */
@Entity({ name: 'target_devices' })
export class TargetDeviceEntity {
  @PrimaryColumn({ type: 'text' })
  target: string;

  @PrimaryColumn({ type: 'text' })
  uuid: string;

  @Column({ type: 'int' })
  device_index: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'int', nullable: true })
  memory_mb: number | null;

  @Column({ type: 'int', nullable: true })
  used_mb: number | null;

  @Column({ type: 'int', default: 0 })
  foreign_mb: number;

  @Column({ type: 'boolean' })
  is_usable: boolean;

  @Column({ type: 'text', nullable: true })
  problem: string | null;

  @Column({ type: 'int', nullable: true })
  stuck_above_mb: number | null;

  @Column({ type: 'timestamptz' })
  measured_at: Date;
}

@Entity({ name: 'target_device_looks' })
export class TargetDeviceCheckEntity {
  @PrimaryColumn({ type: 'text' })
  target: string;

  @Column({ type: 'timestamptz' })
  looked_at: Date;

  @Column({ type: 'text', nullable: true })
  problem: string | null;
}

/** Records which instance holds which device. */
@Entity({ name: 'device_claims' })
export class DeviceClaimEntity {
  @PrimaryColumn({ type: 'text' })
  instance_id: string;

  @PrimaryColumn({ type: 'text' })
  device_uuid: string;

  @Column({ type: 'int' })
  position: number;

  @Column({ type: 'text' })
  target: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'int' })
  device_index: number;

  @Column({ type: 'text' })
  device_name: string;

  @Column({ type: 'int', nullable: true })
  memory_mb: number | null;

  @Column({ type: 'int', nullable: true })
  before_mb: number | null;

  @Column({ type: 'int', nullable: true })
  peak_mb: number | null;

  @Column({ type: 'int' })
  free_within_seconds: number;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  claimed_at: Date;

  @Column({ type: 'timestamptz', nullable: true })
  ended_at: Date | null;
}
