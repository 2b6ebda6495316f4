import { Inject, Injectable, Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import { gauge } from '@slipway/platform-observability';
import { CONFIG, type Config } from './config.js';
import { operatorMetrics } from './operator-metrics.js';
import { OperatorSettings } from './operator-settings.js';

/**
 * Named points at which a test can pause a process in order to kill it exactly there. Without SLIPWAY_PAUSE_POINT,
 * which production refuses, reaching a point costs one comparison.
 */
@Injectable()
export class PausePoints {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'pausePoint'>) {}

  async reach(name: string): Promise<void> {
    if (this.config.pausePoint !== name) return;
    process.stderr.write(`paused at ${name}\n`);
    await new Promise(() => setInterval(() => undefined, 1_000));
  }
}

@Module({})
export class ConfigModule implements OnModuleInit {
  constructor(private readonly settings: OperatorSettings) {}

  onModuleInit(): void {
    for (const { name, help, labels } of operatorMetrics(this.settings.state)) {
      const metric = gauge(name, help, Object.keys(labels), () => {
        const row = operatorMetrics(this.settings.state).find((one) => one.name === name);
        metric.reset();
        if (row) metric.set(row.labels, row.value);
      });
    }
  }

  static forRoot(config: Config): DynamicModule {
    const { operator } = config;
    const settings = operator instanceof OperatorSettings ? operator : OperatorSettings.fixed(operator);
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: OperatorSettings, useValue: settings },
        PausePoints,
      ],
      exports: [CONFIG, OperatorSettings, PausePoints],
    };
  }
}
