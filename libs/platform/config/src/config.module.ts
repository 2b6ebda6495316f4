import { Module, type DynamicModule } from '@nestjs/common';
import type { Config } from './config.js';

/** Nest token of the checked configuration: `@Inject(CONFIG) config: Config`. */
export const CONFIG: unique symbol = Symbol('slipway.config');

@Module({})
export class ConfigModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: CONFIG, useValue: config }],
      exports: [CONFIG],
    };
  }
}
