import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { done, type OperationRow, type StepOutcome } from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { Changeover } from './changeover.js';
import { putBackMessage, putBackRoute } from './route.js';
import { changeoverHold, changeoverOf, type RolloutContext, type RolloutInput } from '../rollout.input.js';

/** The previous revision gets more time than a candidate that was given little. */
const RETURN_LIMIT_SECONDS = 600;

/** The steps that only a recreate has, except the one that releases requests to the candidate. */
@Injectable()
export class Recreate {
  constructor(
    private readonly changeover: Changeover,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  preflight(context: RolloutContext): Promise<StepOutcome> {
    const { stops } = changeoverOf(context.input);
    const returning = stops.map(({ revisionId }) => revisionId);
    return this.changeover.preflight(context, context.input.progressDeadlineSeconds, returning);
  }

  hold(context: RolloutContext): Promise<StepOutcome> {
    return this.changeover.hold(context, changeoverHold(changeoverOf(context.input)));
  }

  stop(context: RolloutContext): Promise<StepOutcome> {
    const { input } = context;
    return this.changeover.stop(context, changeoverOf(input), input.progressDeadlineSeconds);
  }

  /** The second gap. If the first one is not over, its hold still exists, and names the previous revision. */
  async holdForPrevious(context: RolloutContext): Promise<StepOutcome> {
    const { input, state } = context;
    const { isHeld } = await this.changeover.gap(context);
    if (isHeld && !state) return done({ skipped: true, message: 'Requests already wait.' });
    return this.changeover.hold(context, changeoverHold(changeoverOf(input)), input.foundRoute?.targets);
  }

  startPrevious(context: RolloutContext): Promise<StepOutcome> {
    const { input } = context;
    const limitSeconds = Math.max(RETURN_LIMIT_SECONDS, input.progressDeadlineSeconds);
    return this.changeover.startAgain(context, changeoverOf(input), limitSeconds);
  }

  async releaseToPrevious(context: RolloutContext): Promise<StepOutcome> {
    const { operation, input } = context;
    const { isHeld, gapSeconds, message } = await this.changeover.gap(context);
    if (!isHeld) return done({ skipped: true, message: 'No requests wait.' });
    return done({
      message: `${putBackMessage(input.foundRoute)} ${message}`,
      operationResult: { gap_seconds: gapSeconds },
      commit: async (tx) => {
        await this.deployments.lockById(tx, input.deploymentId);
        await putBackRoute(tx, this.routes, operation, input);
      },
    });
  }

  /** Whether the stopped revision is still down. False if nothing was stopped. */
  async isPreviousDown(tx: Tx, { input }: OperationRow<RolloutInput>): Promise<boolean> {
    return (await this.changeover.down(tx, input.changeover?.stops ?? [])).length > 0;
  }
}
