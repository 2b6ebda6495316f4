import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from './config.js';

/**
 * Named places where a test lets a process stand still, to kill it exactly there. Without SLIPWAY_PAUSE_POINT, which
 * production refuses, reaching one costs a comparison.
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
