import type { Actor, DeploymentState, ScalingSpec } from '@slipway/contracts';
import type { Reads, Tx } from '@slipway/platform-database';

export {
  AnalysisDto,
  AnalysisMetricDto,
  HOLD_SECONDS,
  STRATEGY_TYPES,
  StrategyDto,
  StrategyStepDto,
  type StrategyType,
} from './rollout-body.dto.js';

export const DEPLOYMENTS = Symbol('DeploymentsPort');

/** A deployment as other areas act on it. */
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
  /** What it overrides of its revisions' `scaling`, or null. */
  scaling: Partial<ScalingSpec> | null;
  /** The revision that last held 100 % of the traffic. */
  activeRevisionId: string | null;
  candidateRevisionId: string | null;
  previousRevisionId: string | null;
  /** The live rollout, rollback or deletion, or null. */
  currentOperationId: string | null;
  /** Changes at every write; the ETag is made of it. */
  version: number;
}

/** What the deployment is guarded against. A rollback never is: it is the way out. */
export interface Protection {
  /** Whether it cannot be deleted. */
  deletion: boolean;
  /** Which rollouts it takes: any, or those alone that execute an approved plan. */
  rollouts: (typeof PROTECTED_ROLLOUTS)[number];
}

export const PROTECTED_ROLLOUTS = ['any', 'approved_plan'] as const;

/** What people decide about a deployment after its creation; operations never write it. */
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
}

/** Everything that is stored about a deployment, for who shows it. */
export interface DeploymentRecord extends Deployment {
  displayName: string | null;
  description: string | null;
  labels: Record<string, string>;
  environment: string | null;
  conditions: Condition[];
  createdBy: Actor;
  /** Who last changed its settings; null where that is not known. */
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

/** How the revisions behind a route are doing, weights of 0 left out. */
export interface DeploymentHealth {
  isRouted: boolean;
  /** Instances that should run, and that answer their probe. */
  desired: number;
  ready: number;
  /** Whether every revision with a share of the traffic has an instance that answers, or sleeps. */
  isServing: boolean;
  /** Nothing runs because nobody asks; whoever does waits for a start. */
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

/** `labels` must all have these values, `labelKeys` must all be there. */
export interface DeploymentFilter {
  environment?: string;
  labels?: Record<string, string>;
  labelKeys?: readonly string[];
  /** Only deployments older than this one. */
  before?: string;
  limit: number;
}

/** Offered by deployment-records. Every look-up is by tenant; a foreign name is not found. */
export interface DeploymentsPort {
  /** In a transaction of its own, one round trip. Throws `deployment_not_found` (404). */
  idOf(tenantId: string, name: string): Promise<string>;
  /** Reads without a lock. Throws `deployment_not_found`. */
  get(tx: Tx, tenantId: string, name: string): Promise<Deployment>;
  /** The same with everything that is stored. */
  record(reads: Reads, tenantId: string, name: string): Promise<DeploymentRecord>;
  /** Locks the row until the transaction ends: the first lock of every mutation of a deployment. Throws `deployment_not_found`. */
  lock(tx: Tx, tenantId: string, name: string): Promise<Deployment>;
  /** The same by id, for workers; undefined when the deployment is gone. */
  lockById(tx: Tx, id: string): Promise<Deployment | undefined>;
  /** Newest first, without a filter, those behind the id `before`. */
  newest(reads: Reads, tenantId: string, before: string | undefined, limit: number): Promise<DeploymentRecord[]>;
  /** Newest first. */
  list(tx: Tx, tenantId: string, filter: DeploymentFilter): Promise<DeploymentRecord[]>;
  /** How many deployments of the tenant live, one of the given name not counted. */
  countOthers(tx: Tx, tenantId: string, name: string): Promise<number>;
  /** Throws `deployment_exists` (409). */
  create(tx: Tx, deployment: NewDeployment): Promise<DeploymentRecord>;
  /** Writes the given fields of a row the caller has locked, and derives its conditions. */
  update(tx: Tx, id: string, change: DeploymentChange): Promise<void>;
  /** Writes the settings of a row the caller has locked, under a new version. State and conditions stay what operations made them. */
  configure(tx: Tx, id: string, settings: DeploymentSettings, updatedBy: Actor): Promise<void>;
  /** Frees the name. What refers to the deployment by its id still finds it. */
  remove(tx: Tx, id: string): Promise<void>;
  /** State and conditions as health makes them at this moment. Writes nothing. */
  assess(record: DeploymentRecord, health: DeploymentHealth): { state: DeploymentState; conditions: Condition[] };
  /** Writes what `judged` says if it says something new. Nobody waits for it: a row that changes meanwhile is left alone. */
  observe(tx: Tx, record: DeploymentRecord, health: DeploymentHealth): Promise<void>;
  /** What deployments override of their revisions' `scaling`, by id: these, or all. Those that override nothing are left out. */
  scalingOverrides(tx: Tx, ids?: readonly string[]): Promise<Map<string, Partial<ScalingSpec>>>;
  /** Deployments that live, by id, for a round that takes a few at a time. */
  livingAfter(tx: Tx, id: string, limit: number): Promise<DeploymentRecord[]>;
}

/** The event stream of one deployment. */
export function deploymentStream(deploymentId: string): string {
  return `deployment/${deploymentId}`;
}
