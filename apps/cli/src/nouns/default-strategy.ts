import type { Slipway } from '@slipway/sdk';
import { ask } from '../confirmation.js';
import { CliError, EXIT } from '../exit-codes.js';
import type { Session } from '../session.js';
import type { CommandInput } from './verb.js';

/** Each strategy that needs no more words, and what it does. */
export const STRATEGIES: Record<string, string> = {
  candidate: 'start the revision and move no traffic',
  immediate: 'move all traffic at once, without a gate',
  canary: 'move 5, 25, 50 and 100 % of the traffic, with a gate after each',
  blue_green: 'move all traffic at once, then let a gate judge it',
  recreate: 'stop the previous revision first, because both do not fit',
  auto: 'canary if both revisions fit, else recreate',
};

/** The consequence of no strategy: the api uses `candidate`. */
export const noStrategyLine = (deployment: string): string =>
  `${deployment} has no default strategy and the rollout names none: the new revision will be ready and get no traffic. ` +
  'Pass --strategy, or set one with slipway deployments update --default-strategy.';

/**
 * A rollout without a strategy follows the deployment's. If that has none either, a person chooses, and anything else
 * reads what will happen.
 */
export async function chooseStrategy(session: Session, given: CommandInput, client: Slipway): Promise<void> {
  const [name = ''] = given.args;
  const body = (given.body ?? {}) as { strategy?: unknown; plan_id?: unknown };
  // A plan has its own strategy.
  if (body.strategy != null || body.plan_id != null) return;
  const { default_strategy: ofDeployment } = await client.deployments.get(name, { signal: session.signal });
  if (ofDeployment != null) return;
  const isAsked = session.terminal.isInteractive && !session.flags.yes && !given.flags['dryRun'];
  if (!isAsked) return session.output.warn(noStrategyLine(name));
  session.note(`${name} has no default strategy. A rollout can:`);
  for (const [type, does] of Object.entries(STRATEGIES)) session.note(`  ${type.padEnd(10)}  ${does}`);
  const answer = (await ask(session, 'Strategy [candidate]: ')) || 'candidate';
  if (!Object.hasOwn(STRATEGIES, answer))
    throw new CliError(
      `${answer} is not a strategy. Nothing was changed.`,
      EXIT.cancelled,
      `Use one of: ${Object.keys(STRATEGIES).join(', ')}`,
    );
  given.body = { ...body, strategy: { type: answer } };
}
