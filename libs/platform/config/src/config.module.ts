import { Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, type Config } from './config.js';
import { PausePoints } from './pause-points.js';

@Module({})
export class ConfigModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: CONFIG, useValue: config }, PausePoints],
      exports: [CONFIG, PausePoints],
    };
  }
}
