import { namesTenant } from '@slipway/contracts';
import { Inject, Injectable, Logger, Optional, type OnApplicationShutdown } from '@nestjs/common';
import {
  CONFIG,
  OperatorSettings,
  PausePoints,
  resolveSecret,
  type Config,
  type TargetConfig,
} from '@slipway/platform-config';
import { OperationRunner } from '@slipway/platform-durable/operations';
import {
  TARGET_KINDS,
  TargetConfigError,
  type DriverHost,
  type TargetDriver,
  type TargetKind,
} from '@slipway/target-driver';
import { Installation } from './installation.js';

/** One execution target of the operator's configuration with its driver. The same object for as long as the process knows it. */
export interface Target {
  /** As it holds now; as it was last, if it was removed. */
  config: TargetConfig;
  driver: TargetDriver;
  /** The operator's file names it no more. What runs on it goes on; nothing starts on it. */
  isRemoved: boolean;
}

/** The execution targets by name, as the operator's file names them now; one driver object each for the whole process. */
@Injectable()
export class TargetCatalog implements OnApplicationShutdown {
  private readonly targets = new Map<string, Target>();
  private readonly listeners: (() => void)[] = [];
  private readonly host: DriverHost;
  private readonly log = new Logger(TargetCatalog.name);
  /** What has been said of each target, so that a file that changes elsewhere does not say it again. */
  private readonly said = new Map<string, string>();

  /** @throws TargetConfigError for a target that its driver cannot work with; the process then does not start. */
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

  /** Those too that were removed. */
  all(): Target[] {
    return [...this.targets.values()];
  }

  /** Those that there are for a tenant. */
  of(tenantName: string): Target[] {
    return this.all().filter((target) => !target.isRemoved && isFor(target, tenantName));
  }

  /** Those that there were for a tenant, and that may still run something. */
  removedOf(tenantName: string): Target[] {
    return this.all().filter((target) => target.isRemoved && isFor(target, tenantName));
  }

  /** Also one that was removed. */
  find(name: string): Target | undefined {
    return this.targets.get(name);
  }

  /** Called after the operator's file has changed. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Last: reconcilers and operations end before this, and a look with a closed driver would see an ill instance. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.all().map(({ driver }) => driver.close()));
  }

  private prepare(configs: readonly TargetConfig[]): () => void {
    const commits = configs.map((config) => this.prepareOne(config));
    const named = new Set(configs.map(({ name }) => name));
    return () => {
      for (const commit of commits) commit();
      for (const [name, target] of this.targets) target.isRemoved = !named.has(name);
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
    // What runs there could not be asked or stopped any more.
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
    if (!found) throw new Error(`there is no kind of target named ${kind}`);
    return found;
  }
}

/** Whether the target, there or not, is for the tenant. */
export function isFor({ config: { tenants } }: Target, tenantName: string): boolean {
  return tenants === undefined || namesTenant(tenants, tenantName);
}
