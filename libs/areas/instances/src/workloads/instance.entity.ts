import type { ObservationReason, StartFailure, StartProgress } from '@slipway/contracts';
import { wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

export type LifecycleState = 'pending' | 'starting' | 'ready' | 'unhealthy' | 'backing_off' | 'stopping' | 'stopped';

/** Why a start failed, with the message of its end. */
export interface FailedStart extends StartFailure {
  message: string;
}

/** The node does not answer. Gateways do not wait for its instances either. */
export const LOST_NODE = { state: 'unhealthy', reason: 'node_lost' } as const;

export function isOnLostNode({ state, reason }: Pick<InstanceEntity, 'state' | 'reason'>): boolean {
  return state === LOST_NODE.state && reason === LOST_NODE.reason;
}

@Entity({ name: 'instances' })
export class InstanceEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  revision_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  target: string;

  @Column({ type: 'int' })
  ordinal: number;

  @Column({ type: 'int', default: 1 })
  generation: number;

  @Column({ type: 'text', default: 'pending' })
  state: LifecycleState;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  state_since: Date;

  @Column({ type: 'text', nullable: true })
  base_url: string | null;

  @Column({ type: 'int', default: 0 })
  restarts: number;

  /** Restarts after it was ready. */
  @Column({ type: 'int', default: 0 })
  crashes: number;

  @Column({ type: 'int', default: 0 })
  crash_streak: number;

  @Column({ type: 'timestamptz', nullable: true })
  next_start_at: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  ready_since: Date | null;

  @Column({ type: 'text', nullable: true })
  message: string | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  observed_at: Date;

  @Column({ type: 'bigint', default: 1, transformer: wholeNumber })
  version: number;

  @Column({ type: 'text', nullable: true })
  incarnation: string | null;

  @Column({ type: 'text', nullable: true })
  reason: ObservationReason | null;

  @Column({ type: 'text', nullable: true })
  place: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  started_at: Date | null;

  @Column({ type: 'text', nullable: true })
  key_id: string | null;

  @Column({ type: 'jsonb', nullable: true })
  failure: FailedStart | null;

  @Column({ type: 'int', default: 0 })
  failed_starts: number;

  @Column({ type: 'jsonb', nullable: true })
  progress: StartProgress | null;

  @Column({ type: 'timestamptz', nullable: true })
  start_began_at: Date | null;

  @Column({ type: 'float8', nullable: true })
  start_seconds: number | null;

  @Column({ type: 'timestamptz', nullable: true })
  model_seen_at: Date | null;

  @Column({ type: 'text', nullable: true })
  drift: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  drain_until: Date | null;

  @Column({ type: 'boolean', default: false })
  abandons_silent: boolean;

  /** Set until it has stopped for its next generation: how long its requests in flight may take at most. */
  @Column({ type: 'float8', nullable: true })
  replace_drain_seconds: number | null;
}
