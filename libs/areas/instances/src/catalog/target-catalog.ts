import { Inject, Injectable, Logger, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { effectiveScaling, endpointUrls, namesTenant, type RevisionSpec } from '@slipway/contracts';
import {
  CONFIG,
  type Config,
  OperatorSettings,
  PausePoints,
  resolveSecret,
  type SecretReference,
  type TargetConfig,
} from '@slipway/platform-config';
import { OperationRunner } from '@slipway/platform-durable/operations';
import {
  type DriverHost,
  type EngineTraits,
  type InstanceSpec,
  TARGET_KINDS,
  TargetConfigError,
  type TargetDriver,
  type TargetKind,
} from '@slipway/target-driver';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import { Installation } from './installation.js';

/**
 * An execution target of the operator's configuration with its driver. It stays the same object for as long as the
 * process knows it.
 */
export interface Target {
  /** The current configuration; the last one, if the target was removed. */
  config: TargetConfig;
  driver: TargetDriver;
  /** Whether the operator's file no longer names it. Its instances continue; nothing new starts on it. */
  isRemoved: boolean;
}

const REMOVED_NOW =
  'it was removed from the file. Its instances continue, but a worker does not start with this file while they run';

/** The execution targets by name, as the operator's file now names them. Each has one driver object in the process. */
@Injectable()
export class TargetCatalog implements OnApplicationShutdown {
  private readonly targets = new Map<string, Target>();
  private readonly listeners: (() => void)[] = [];
  private readonly host: DriverHost;
  private readonly log = new Logger(TargetCatalog.name);
  /** The last warning about each target, so that a change elsewhere in the file does not repeat it. */
  private readonly said = new Map<string, string>();

  /** @throws TargetConfigError if a driver cannot work with its target; the process then does not start */
  constructor(
    @Inject(CONFIG) config: Pick<Config, 'home' | 'searchPath' | 'ownPorts'>,
    settings: OperatorSettings,
    @Inject(TARGET_KINDS) private readonly kinds: readonly TargetKind[],
    pausePoints: PausePoints,
    ids: Installation,
    @Optional() worker?: OperationRunner,
  ) {
    const pausePoint = (name: string) => pausePoints.reach(`targets:${name}`);
    const secret = (name: string) => resolveSecret(settings, name);
    const installation = () => ids.id();
    const starts = worker !== undefined;
    const path = config.searchPath;
    const { home, ownPorts } = config;
    this.host = { home, ...(path === undefined ? {} : { path }), ownPorts, starts, secret, installation, pausePoint };
    settings.follow(({ targets }) => this.prepare(targets));
  }

  /** Returns all targets, including removed ones. */
  all(): Target[] {
    return [...this.targets.values()];
  }

  /** Returns the targets of a tenant. */
  of(tenantName: string): Target[] {
    return this.all().filter((target) => !target.isRemoved && isFor(target, tenantName));
  }

  /** Returns the removed targets of a tenant, which may still run instances. */
  removedOf(tenantName: string): Target[] {
    return this.all().filter((target) => target.isRemoved && isFor(target, tenantName));
  }

  /** Finds a target, even if it was removed. */
  find(name: string): Target | undefined {
    return this.targets.get(name);
  }

  /** Adds a listener that is called after a change of the operator's file. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /**
   * Runs last, after reconcilers and operations have ended: a check with a closed driver would report an unhealthy
   * instance.
   */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.all().map(({ driver }) => driver.close()));
  }

  private prepare(configs: readonly TargetConfig[]): () => void {
    const commits = configs.map((config) => this.prepareOne(config));
    const named = new Set(configs.map(({ name }) => name));
    return () => {
      for (const commit of commits) commit();
      for (const [name, target] of this.targets) {
        if (!target.isRemoved && !named.has(name)) this.log.warn(`target "${name}": ${REMOVED_NOW}`);
        target.isRemoved = !named.has(name);
      }
      for (const { config, driver } of this.targets.values()) this.warn(config.name, driver.warnings?.() ?? []);
      for (const listener of this.listeners) listener();
    };
  }

  private prepareOne(config: TargetConfig): () => void {
    const known = this.targets.get(config.name);
    if (!known) {
      const driver = this.kindOf(config).createDriver(config, this.host);
      return () => this.targets.set(config.name, { config, driver, isRemoved: false });
    }
    // Otherwise the instances that run there could no longer be checked or stopped.
    if (known.config.kind !== config.kind)
      throw new TargetConfigError(config.name, [
        `its kind cannot change from ${known.config.kind} to ${config.kind} while the process runs: use another name, or restart`,
      ]);
    const commit = known.driver.reconfigure(config);
    return () => {
      commit();
      known.config = config;
    };
  }

  private warn(name: string, warnings: readonly string[]): void {
    const text = warnings.join('; ');
    if (text !== '' && text !== this.said.get(name)) this.log.warn(`target "${name}": ${text}`);
    this.said.set(name, text);
  }

  private kindOf({ kind }: TargetConfig): TargetKind {
    const found = this.kinds.find((one) => one.kind === kind);
    if (!found) throw new Error(`the target kind ${kind} does not exist`);
    return found;
  }
}

/** Whether the target is for the tenant, even if it was removed. */
export function isFor({ config: { tenants } }: Target, tenantName: string): boolean {
  return tenants === undefined || namesTenant(tenants, tenantName);
}

/**
 * For probes without settings in the spec: a crash is noticed within 1 second, an unhealthy server within about 3
 * seconds.
 */
export const PROBE_DEFAULTS = { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 };

/** Reads the operator's secrets by name, for one use. */
export interface SecretReader {
  /** Returns its current value. `sentTo` is the URL to which it is sent, if any. */
  value(name: string, sentTo?: string): string;
  /** Returns the reference by which the target finds it; undefined if the secret has a value here. */
  reference(name: string): SecretReference | undefined;
}

/** For checks that need no secret. A driver checks the shape of an environment; only a start passes the values on. */
export const placeholderSecrets: SecretReader = { value: () => 'secret', reference: () => undefined };

export function probeOf(spec: RevisionSpec): InstanceSpec['probe'] {
  const {
    path,
    interval_seconds: interval,
    timeout_seconds: timeout,
    failure_threshold: threshold,
  } = spec.probes ?? {};
  const said = { intervalSeconds: interval, timeoutSeconds: timeout, failureThreshold: threshold };
  const names = ['intervalSeconds', 'timeoutSeconds', 'failureThreshold'] as const;
  return {
    ...(path === undefined ? {} : { path }),
    set: names.filter((name) => said[name] !== undefined),
    intervalSeconds: interval ?? PROBE_DEFAULTS.intervalSeconds,
    timeoutSeconds: timeout ?? PROBE_DEFAULTS.timeoutSeconds,
    failureThreshold: threshold ?? PROBE_DEFAULTS.failureThreshold,
  };
}

/** A cache for specs that a caller keeps: a rollout reads the traits several times. */
const known = new WeakMap<RevisionSpec, { driver: TargetDriver; traits: EngineTraits | undefined }>();

/**
 * Returns what callers must know of the engine that a spec names. It is the same for every instance and tenant.
 * Undefined if the engine is not described.
 */
export function engineTraitsOf(driver: TargetDriver | undefined, spec: RevisionSpec): EngineTraits | undefined {
  if (!driver) return undefined;
  const found = known.get(spec);
  if (found?.driver === driver) return found.traits;
  const any = { id: 'traits', generation: 1, tenantName: '' };
  const traits = driver.traits?.(toInstanceSpec(spec, any, placeholderSecrets));
  known.set(spec, { driver, traits });
  return traits;
}

/**
 * Converts the stored spec of a revision to the form for a driver. Values of secrets exist only in the result.
 * @param instance.ordinal index of the endpoint URL to use; 0 by default
 */
export function toInstanceSpec(
  spec: RevisionSpec,
  instance: {
    id: string;
    generation: number;
    tenantName: string;
    ordinal?: number;
    owner?: InstanceSpec['owner'];
    isModelSeen?: boolean;
    modelChange?: string;
    madeAt?: InstanceSpec['madeAt'];
  },
  secrets: SecretReader,
): InstanceSpec {
  const { runtime, endpoint } = spec;
  const built: InstanceSpec = {
    instanceId: instance.id,
    generation: instance.generation,
    tenantName: instance.tenantName,
    ...(instance.owner === undefined ? {} : { owner: instance.owner }),
    ...(instance.madeAt && { madeAt: instance.madeAt }),
    model: spec.model,
    ...(spec.resources === undefined ? {} : { resources: spec.resources }),
    // The settings of the deployment may change while instances run. They are checked when another instance starts.
    ...(spec.scaling && { scaling: effectiveScaling(spec.scaling) }),
    runtime: {
      ...(runtime.engine === undefined ? {} : { engine: runtime.engine }),
      args: runtime.args ?? {},
      ...environmentOf(runtime, secrets),
    },
    probe: probeOf(spec),
  };
  const baseUrl = endpointUrls(endpoint)[instance.ordinal ?? 0];
  if (!endpoint || baseUrl === undefined) return built;
  const { api_path: apiPath, health_path: healthPath = '/health', credential_ref: reference } = endpoint;
  const credential = reference === undefined ? {} : { credential: secrets.value(reference, baseUrl) };
  const { isModelSeen, modelChange } = instance;
  const path = apiPath === undefined ? {} : { apiPath };
  const known = { ...(isModelSeen && { isModelSeen }), ...(modelChange !== undefined && { modelChange }) };
  return { ...built, endpoint: { baseUrl, ...path, healthPath, ...credential, ...known } };
}

/** Returns `envRefs` only if there is a reference. */
function environmentOf(
  { env }: RevisionSpec['runtime'],
  secrets: SecretReader,
): Pick<InstanceSpec['runtime'], 'env' | 'envRefs'> {
  const values: [string, string][] = [];
  const references: [string, { secret: string; key: string }][] = [];
  for (const [variable, value] of Object.entries(env ?? {})) {
    const reference = typeof value === 'string' ? undefined : secrets.reference(value.secret_ref);
    if (reference) references.push([variable, { secret: reference.name, key: reference.key }]);
    else values.push([variable, typeof value === 'string' ? value : secrets.value(value.secret_ref)]);
  }
  // Not by assignment: a variable may be called `__proto__`.
  const envRefs = references.length > 0 && { envRefs: Object.fromEntries(references) };
  return { env: Object.fromEntries(values), ...envRefs };
}

/** Returns the spec of one instance, with its owner. */
export function specOfInstance(
  workload: Omit<WorkloadRow, 'instances'>,
  instance: Pick<InstanceRow, 'id' | 'generation' | 'ordinal' | 'model_seen' | 'reason' | 'message' | 'made_at'>,
  secrets: SecretReader,
): InstanceSpec {
  const { tenant_id, tenant_name: tenantName, deployment_id, revision_id, revision_name } = workload;
  const { id, generation, ordinal, model_seen, reason, message, made_at } = instance;
  const owner = {
    tenantId: tenant_id,
    deploymentId: deployment_id,
    revisionId: revision_id,
    revisionName: revision_name,
    ordinal,
  };
  const about = { id, generation, tenantName, ordinal, owner, isModelSeen: model_seen, madeAt: made_at ?? [] };
  const modelChange = reason === 'model_changed' ? (message ?? '') : undefined;
  return toInstanceSpec(workload.spec, { ...about, modelChange }, secrets);
}

/** Returns the number of instances. Each adopted server is one instance, whatever the scaling says. */
export function replicasOn({ driver }: Target, spec: RevisionSpec): number {
  return Math.max(1, driver.adopts ? endpointUrls(spec.endpoint).length : (spec.scaling?.min_replicas ?? 1));
}
