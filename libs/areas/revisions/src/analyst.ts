import { Injectable } from '@nestjs/common';
import { done, type StepContext, type StepOutcome } from '@slipway/platform-operations';
import type { RolloutInput } from './rollout.input.js';

/** Judges a candidate by what the gateways recorded of it. */
@Injectable()
export class Analyst {
  async analyze({ input }: StepContext<RolloutInput>): Promise<StepOutcome> {
    if (!input.analysis) return done({ skipped: true, message: 'no metrics were asked for' });
    return done({ skipped: true });
  }
}
