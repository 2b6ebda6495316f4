import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config, type TargetConfig } from '@slipway/platform-config';
import { PausePoints } from '@slipway/platform-operations';
import type { TargetDriver } from '@slipway/target-driver';
import { EndpointDriver } from '@slipway/target-endpoint';
import { ProcessDriver } from '@slipway/target-process';

/** From SIGTERM to SIGKILL. Whoever stops the whole stack waits 30 s for its worker, engines and operations included. */
const ENGINE_GRACE_SECONDS = 15;

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
  constructor(@Inject(CONFIG) config: Pick<Config, 'operator' | 'home'>, pausePoints: PausePoints) {
    this.targets = new Map(
      config.operator.targets.map((target) => [
        target.name,
        { config: target, driver: createDriver(target, config.home, pausePoints) },
      ]),
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

function createDriver(target: TargetConfig, home: string, pausePoints: PausePoints): TargetDriver {
  if (target.kind === 'endpoint') return new EndpointDriver(target);
  return new ProcessDriver(target, {
    home,
    graceSeconds: ENGINE_GRACE_SECONDS,
    pausePoint: (name) => pausePoints.reach(`targets:${name}`),
  });
}
