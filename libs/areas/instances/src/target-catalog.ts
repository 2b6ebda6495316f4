import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, PausePoints, type Config, type TargetConfig } from '@slipway/platform-config';
import { TARGET_KINDS, type TargetDriver, type TargetKind } from '@slipway/target-driver';

/** One execution target of the operator's configuration with its driver. */
export interface Target {
  config: TargetConfig;
  driver: TargetDriver;
}

/** The execution targets by name; one driver object each for the whole process. */
@Injectable()
export class TargetCatalog implements OnApplicationShutdown {
  private readonly targets: ReadonlyMap<string, Target>;

  /** @throws TargetConfigError for a target that its driver cannot work with; the process then does not start. */
  constructor(
    @Inject(CONFIG) config: Pick<Config, 'operator' | 'home'>,
    @Inject(TARGET_KINDS) kinds: readonly TargetKind[],
    pausePoints: PausePoints,
  ) {
    const host = { home: config.home, pausePoint: (name: string) => pausePoints.reach(`targets:${name}`) };
    this.targets = new Map(
      config.operator.targets.map((target) => {
        const kind = kinds.find((one) => one.kind === target.kind);
        if (!kind) throw new Error(`there is no kind of target named ${target.kind}`);
        return [target.name, { config: target, driver: kind.createDriver(target, host) }];
      }),
    );
  }

  all(): Target[] {
    return [...this.targets.values()];
  }

  find(name: string): Target | undefined {
    return this.targets.get(name);
  }

  /** Last: reconcilers and operations end before this, and a look with a closed driver would see an ill instance. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.all().map(({ driver }) => driver.close()));
  }
}
