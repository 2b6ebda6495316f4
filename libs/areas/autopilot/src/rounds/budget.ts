import { multiplyMoney, type Money } from '@slipway/platform-config';
import type { PolicyContent } from '@slipway/ports/policies';
import { allowedSteps } from '../plans/plan-boundaries.js';
import { PERIOD_DAYS, soakSecondsOf, type Proposal, type ProposalHistory, type Situation } from './situation.js';
import { moneyText, numberText } from './texts.js';

/** The cost of a change of the number of instances. */
export interface ChangeCost {
  gpuHours: number;
  cost: Proposal['cost'];
  /** Reasons for the approver to look at the cost, if prices are unknown. */
  risks: string[];
}

type Costs = Pick<Situation, 'policy' | 'devices' | 'price'>;

/**
 * Returns the device hours that a change adds in the budget's period if it is kept, with those of its rollout, in which
 * both revisions run, and the price of one hour.
 */
export function costOf({ policy, devices: { count }, price }: Costs, from: number, to: number): ChangeCost {
  const { max_cost: limit, period } = policy.experiment_budget;
  const kept = Math.max(0, to - from) * PERIOD_DAYS[period] * 24;
  const overlap = (to * (allowedSteps(policy)?.length ?? 0) * soakSecondsOf(policy)) / 3_600;
  const gpuHours = Math.round(count * (kept + overlap) * 1e3) / 1e3;
  return {
    gpuHours,
    cost:
      price && count > 0
        ? { now: multiplyMoney(price, from * count), predicted: multiplyMoney(price, to * count) }
        : null,
    risks:
      limit && gpuHours > 0 && !isComparable(price, limit)
        ? [
            `Slipway has no price in ${limit.currency} for this accelerator: the approver must check that this stays within ${moneyText(limit)}`,
          ]
        : [],
  };
}

/**
 * Returns what of the budget forbids a proposal, in words; undefined if nothing does. Without a price, an amount of 0
 * forbids everything, and the approver judges any other amount.
 */
export function exceededBudget(
  proposal: Pick<Proposal, 'gpuHours'>,
  { policy, history, price }: Pick<Situation, 'policy' | 'price'> & { history: ProposalHistory },
): string | undefined {
  const { max_experiments, max_gpu_hours, max_cost, period } = policy.experiment_budget;
  if (max_experiments !== undefined && history.proposedInPeriod >= max_experiments)
    return `${history.proposedInPeriod} plans were proposed in the last ${period}, and max_experiments is ${max_experiments}`;
  const hours = history.gpuHoursInPeriod + proposal.gpuHours;
  if (max_gpu_hours !== undefined && hours > max_gpu_hours)
    return `with it, the plans of the last ${period} would add ${numberText(hours)} GPU hours, and max_gpu_hours is ${numberText(max_gpu_hours)}`;
  if (max_cost === undefined) return undefined;
  if (!isComparable(price, max_cost))
    return max_cost.amount === 0
      ? `max_cost is 0, and the accelerator has no price in ${max_cost.currency}`
      : undefined;
  const money = multiplyMoney(price, hours);
  return money.amount > max_cost.amount
    ? `with it, the plans of the last ${period} would add ${moneyText(money)}, and max_cost is ${moneyText(max_cost)}`
    : undefined;
}

/** Whether the policy limits what may be spent on headroom that no SLO needs. */
export function hasSpendingLimit({ experiment_budget: budget }: PolicyContent): boolean {
  return budget.max_gpu_hours !== undefined || budget.max_cost !== undefined;
}

function isComparable(price: Money | null, limit: Money): price is Money {
  return price !== null && price.currency === limit.currency;
}
