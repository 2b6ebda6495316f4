import { defineFailures, type RevisionSpec } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';

export const INSTANCES = Symbol('InstancesPort');

/** How an operation fails that needs instances. */
export const instanceFailures = defineFailures({
  capacity_exhausted: 'The target has no place for so many instances more',
  target_not_ready: 'The instances were not ready by the deadline',
});

/**
 * Why a revision's instances run: somebody holds them. `route` while a route names the revision, `operation:<id>` while
 * an operation works on it, `warm` until a time. Without an unexpired hold the reconciler stops them.
 */
export type Holder = 'route' | 'warm' | `operation:${string}` | `binding:${string}`;

export interface Workload {
  tenantId: string;
  deploymentId: string;
  revisionId: string;
  /** Gateways and events show it. */
  revisionName: string;
  spec: RevisionSpec;
}

export interface SpecIssue {
  /** Path within the revision's spec, such as `runtime.args.ttft_ms`. */
  field: string;
  code: string;
  message: string;
}

export interface WorkloadStatus {
  /** How many instances should run, and how many answer their probe now. */
  desired: number;
  ready: number;
  /** Instances that are not known to have stopped; 0 = its processes are gone. */
  alive: number;
  /** Restarts since the workload was last started; a crash counts one. */
  restarts: number;
  /** The newest trouble in words, for a step's message; null when there is none. */
  message: string | null;
  baseUrls: string[];
}

/** Offered by instances. Writing methods only write desired state; its reconciler makes it so. */
export interface InstancesPort {
  /** Every reason why this spec cannot run on the configured targets. Pure: asks configuration only. */
  check(tenantId: string, spec: RevisionSpec): SpecIssue[];
  /**
   * Wants `scaling.min_replicas` instances of the revision and places the hold. Repeating it changes nothing.
   * A full target first stops the oldest workload that only `warm` holds; then throws `capacity_exhausted`.
   */
  want(tx: Tx, workload: Workload, holder: Holder): Promise<void>;
  /** Places a hold on a workload that exists; after `forSeconds` it ends by itself. */
  hold(tx: Tx, revisionId: string, holder: Holder, forSeconds?: number): Promise<void>;
  release(tx: Tx, revisionId: string, holder: Holder): Promise<void>;
  /** Undefined when the revision never had a workload. */
  status(tx: Tx, revisionId: string): Promise<WorkloadStatus | undefined>;
  /** Wakes the operation (through the outbox) as soon as the workload's readiness changes; one-shot. */
  wakeOnChange(tx: Tx, revisionId: string, operationId: string): Promise<void>;
  /** Sends one real health request to each ready instance now. Returns how many answered. No transaction: it waits on the network. */
  probe(revisionId: string): Promise<{ answered: number; asked: number }>;
  /** Requests that gateways have in flight to the revision, as of their last report. */
  inFlight(tx: Tx, revisionId: string): Promise<number>;
}
