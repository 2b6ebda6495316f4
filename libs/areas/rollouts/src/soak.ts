import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { done, sleep, type StepContext, type StepOutcome } from '@slipway/platform-durable/operations';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { Candidate, didNotStayUp } from './steps/candidate.js';
import { type RolloutInput, soakSecondsAt } from './rollout.input.js';

const SILENCE_LIMIT_MS = 15_000;
const SILENCE_LOOK_MS = 250;

/** Lets a candidate serve for a while and looks that it stays up. */
@Injectable()
export class Soak {
  constructor(
    private readonly database: Database,
    private readonly candidate: Candidate,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /** Sleeps in Postgres; the reconciler wakes it when an instance of the candidate changes, so a crash is seen at once. */
  async run(context: StepContext<RolloutInput>): Promise<StepOutcome> {
    const { operation, input, step, state } = context;
    const soakMs = soakSecondsAt(input.strategy, step.number) * 1_000;
    const status = await this.database.tx('system', (tx) =>
      this.candidate.assertUp(tx, context, input.revisionId, input.revisionName),
    );
    // Without a crash, no answer may only mean that this worker has just started and has not looked yet.
    const silentSince = status?.ready === 0 ? Number(state?.['silentSince'] ?? step.elapsedMs()) : undefined;
    if (silentSince !== undefined && step.elapsedMs() - silentSince > SILENCE_LIMIT_MS)
      throw didNotStayUp(input.revisionName, status, 0);
    const leftMs = soakMs - step.elapsedMs();
    if (leftMs <= 0 && silentSince === undefined) return done({ message: `soaked for ${soakMs / 1_000} s` });
    return sleep({
      forMs: silentSince === undefined ? leftMs : SILENCE_LOOK_MS,
      status: 'waiting',
      state: { silentSince },
      message: `soaking until ${new Date(step.startedAt.getTime() + soakMs).toISOString()}`,
      commit: (tx) => this.instances.wakeOnChange(tx, input.revisionId, operation.id),
    });
  }
}
