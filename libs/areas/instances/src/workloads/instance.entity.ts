import type { ObservationReason, StartFailure, StartProgress } from '@slipway/contracts';
import { wholeNumber } from '@slipway/platform-database';
import type { UnitLocation } from '@slipway/target-driver';
import { Column, Entity, PrimaryColumn } from 'typeorm';

export type LifecycleState = 'pending' | 'starting' | 'ready' | 'unhealthy' | 'backing_off' | 'stopping' | 'stopped';

/** Why a start failed, with the message of its end. */
export interface FailedStart extends StartFailure {
  message: string;
}

type DoubtedRow = Pick<InstanceEntity, 'state' | 'reason' | 'doubted' | 'ending_url'> & {
  ready_since?: Date | null;
  ready_age_seconds?: number | null;
};

/**
 * Returns why an instance that is not ready may still answer, for gateways; undefined if it does not. Its node is `lost`
 * or, if only its cluster says so, `doubted`. An `unhealthy` server was ready before and gives this worker no answer,
 * which may be the fault of the worker or its network. One that answers that it is unwell is believed.
 */
export function doubtOf(row: DoubtedRow): 'lost' | 'doubted' | 'unhealthy' | undefined {
  if (row.state !== 'unhealthy') return undefined;
  if (row.reason === 'node_lost') return row.doubted ? 'doubted' : 'lost';
  const wasReady = (row.ready_since ?? row.ready_age_seconds ?? null) !== null;
  return row.reason === 'probe_failed' && row.doubted && wasReady ? 'unhealthy' : undefined;
}

/** Differs if the published state differs. */
export function publishedDoubt(row: DoubtedRow): string {
  return `${doubtOf(row) ?? ''} ${row.ending_url ?? ''}`;
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

  /** The address of an earlier server of this generation that still answers while it is being ended. */
  @Column({ type: 'text', nullable: true })
  ending_url: string | null;

  /** Its state may be a fault of the observer, so gateways decide by their own evidence. */
  @Column({ type: 'boolean', default: false })
  doubted: boolean;

  /** Where its units may be, the newest location last. Null if it has none, or if the previous release started it. */
  @Column({ type: 'jsonb', nullable: true })
  made_at: UnitLocation[] | null;
}
