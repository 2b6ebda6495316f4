import type { Actor, DeploymentState, MediaUrls, ScalingSpec } from '@slipway/contracts';
import type { Reads, RowPage, Tx } from '@slipway/platform-database';

export { MediaUrlsDto, MediaUrlsPatchDto } from './media-urls.dto.js';
export {
  AnalysisDto,
  AnalysisMetricDto,
  BakeDto,
  HOLD_SECONDS,
  STRATEGY_TYPES,
  StrategyDto,
  StrategyStepDto,
  type StrategyType,
} from './rollout-strategy.dto.js';

export const DEPLOYMENTS = Symbol('DeploymentsPort');

/** The fields of a deployment that other areas use. */
export interface Deployment {
  id: string;
  tenantId: string;
  name: string;
  state: DeploymentState;
  /** The deployment's `default_strategy` as stored, or null. */
  defaultStrategy: Record<string, unknown> | null;
  /** The deployment's `default_analysis` as stored, or null. */
  defaultAnalysis: Record<string, unknown> | null;
  revisionHistoryLimit: number;
  protection: Protection;
  /** Overrides of its revisions' `scaling`, or null. */
  scaling: Partial<ScalingSpec> | null;
  /** The revision that last held 100 % of the traffic. */
  activeRevisionId: string | null;
  candidateRevisionId: string | null;
  previousRevisionId: string | null;
  /** The live rollout, rollback or deletion, or null. */
  currentOperationId: string | null;
  /** Changes with every write; the ETag is made of it. */
  version: number;
}

/** The protection of a deployment. It never applies to a rollback, which is the way out. */
export interface Protection {
  /** Whether it cannot be deleted. */
  deletion: boolean;
  /** The rollouts that it accepts: any, or only those that execute an approved plan. */
  rollouts: (typeof PROTECTED_ROLLOUTS)[number];
}

export const PROTECTED_ROLLOUTS = ['any', 'approved_plan'] as const;

/** The settings that people change after a deployment's creation; operations never write them. */
export interface DeploymentSettings {
  displayName: string | null;
  description: string | null;
  labels: Record<string, string>;
  environment: string | null;
  defaultStrategy: object | null;
  defaultAnalysis: object | null;
  revisionHistoryLimit: number;
  protection: Protection;
  scaling: Partial<ScalingSpec> | null;
  /** How long a leaving instance may wait for its requests. */
  drainSeconds: number;
  /** Which URLs of media its inference requests may name. */
  mediaUrls: MediaUrls;
}

/** Everything that is stored about a deployment, for areas that show it. */
export interface DeploymentRecord extends Deployment {
  displayName: string | null;
  description: string | null;
  labels: Record<string, string>;
  environment: string | null;
  drainSeconds: number;
  mediaUrls: MediaUrls;
  conditions: Condition[];
  createdBy: Actor;
  /** The actor that last changed its settings; null if unknown. */
  updatedBy: Actor | null;
  createdAt: Date;
  updatedAt: Date;
}

export type ConditionType = 'Ready' | 'Progressing' | 'Degraded';

export interface Condition {
  type: ConditionType;
  status: 'True' | 'False';
  /** One word for programs. */
  reason: string;
  /** One sentence for people. */
  message: string;
  last_transition_at: string;
}

/** The health of the revisions of a route, without those of weight 0. */
export interface DeploymentHealth {
  isRouted: boolean;
  /** Instances that should run, and instances that answer their probe. */
  desired: number;
  ready: number;
  /** Whether every revision with a share of the traffic has an instance that answers, or sleeps. */
  isServing: boolean;
  /** Nothing runs because there are no requests; the next request waits for a start. */
  isAsleep?: boolean;
}

export interface NewDeployment extends DeploymentSettings {
  tenantId: string;
  name: string;
  createdBy: Actor;
}

export interface DeploymentChange {
  state?: DeploymentState;
  activeRevisionId?: string | null;
  candidateRevisionId?: string | null;
  previousRevisionId?: string | null;
  currentOperationId?: string | null;
}

/** `labels` must all have these values; `labelKeys` must all exist. */
export interface DeploymentFilter {
  environment?: string;
  labels?: Record<string, string>;
  labelKeys?: readonly string[];
  state?: DeploymentState;
  /** A text in one of the names, the description or the environment. */
  q?: string;
  /** RFC 3339: created at this time or later, and before the other. */
  since?: string;
  until?: string;
  /** Newest first by default. */
  order?: 'asc' | 'desc';
  /** Only deployments that come after this one. */
  past?: string;
  limit: number;
}

/** Offered by deployment-records. Every look-up is by tenant; the name of another tenant's deployment is not found. */
export interface DeploymentsPort {
  /** Runs in a transaction of its own, one round trip. @throws deployment_not_found (404) */
  idOf(tenantId: string, name: string): Promise<string>;
  /** Reads without a lock. @throws deployment_not_found (404) */
  get(tx: Tx, tenantId: string, name: string): Promise<Deployment>;
  /** The same with everything that is stored. */
  record(reads: Reads, tenantId: string, name: string): Promise<DeploymentRecord>;
  /**
   * Locks the row until the transaction ends: the first lock of every mutation of a deployment.
   * @throws deployment_not_found (404)
   */
  lock(tx: Tx, tenantId: string, name: string): Promise<Deployment>;
  /** The same by id, for workers; undefined if the deployment is gone. */
  lockById(tx: Tx, id: string): Promise<Deployment | undefined>;
  /** Newest first, without a filter; those after the id `before`. */
  newest(reads: Reads, tenantId: string, before: string | undefined, limit: number): Promise<RowPage<DeploymentRecord>>;
  /** Newest first. */
  list(tx: Tx, tenantId: string, filter: DeploymentFilter): Promise<RowPage<DeploymentRecord>>;
  /** Returns the number of existing deployments of the tenant, without the one of the given name. */
  countOthers(tx: Tx, tenantId: string, name: string): Promise<number>;
  /** @throws deployment_exists (409) */
  create(tx: Tx, deployment: NewDeployment): Promise<DeploymentRecord>;
  /** Writes the given fields of a row that the caller has locked, and derives its conditions. */
  update(tx: Tx, id: string, change: DeploymentChange): Promise<void>;
  /**
   * Writes the settings of a row that the caller has locked, under a new version. State and conditions do not change.
   */
  configure(tx: Tx, id: string, settings: DeploymentSettings, updatedBy: Actor): Promise<void>;
  /** Frees the name. References to the deployment by its id still find it. */
  remove(tx: Tx, id: string): Promise<void>;
  /** Returns the state and conditions that follow from the current health. Writes nothing. */
  assess(record: DeploymentRecord, health: DeploymentHealth): { state: DeploymentState; conditions: Condition[] };
  /**
   * Writes the result of `assess` if it differs from the record. It waits for no lock: a row that changes in the
   * meantime is left alone.
   */
  observe(tx: Tx, record: DeploymentRecord, health: DeploymentHealth): Promise<void>;
  /**
   * Returns the overrides of `scaling` by deployment id, of these or of all deployments. Deployments without overrides
   * are left out.
   */
  scalingOverrides(tx: Tx, ids?: readonly string[]): Promise<Map<string, Partial<ScalingSpec>>>;
  /** Returns the time that leaving instances of a deployment may wait for their requests, also after its deletion. */
  drainSeconds(tx: Tx, id: string): Promise<number>;
  /** Returns those of the ids that are deployments which are not deleted. */
  living(tx: Tx, ids: readonly string[]): Promise<string[]>;
  /** Returns existing deployments by id, for a round that takes a few at a time. */
  livingAfter(tx: Tx, id: string, limit: number): Promise<RowPage<DeploymentRecord>>;
}

/** Returns the name of the event stream of a deployment. */
export function deploymentStream(deploymentId: string): string {
  return `deployment/${deploymentId}`;
}
