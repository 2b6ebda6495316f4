import type { DeploymentState } from '@slipway/contracts';
import type { Condition, ConditionType, DeploymentHealth } from '@slipway/ports/deployment-records';

export const NO_ROUTE: DeploymentHealth = { isRouted: false, desired: 0, ready: 0, isServing: false };

export interface ConditionFacts {
  state: DeploymentState;
  currentOperationId: string | null;
  /** Undefined if nobody has looked: what was observed last stands. */
  health?: DeploymentHealth;
}

type ConditionFinding = Pick<Condition, 'status' | 'reason' | 'message'>;

/** The state as health makes it; states that an operation set and will end are left alone. */
export function observedState(state: DeploymentState, health: DeploymentHealth): DeploymentState {
  if (!health.isRouted || state === 'deleting' || state === 'progressing' || state === 'paused') return state;
  const isWhole = health.isServing && (health.isAsleep || health.ready >= health.desired);
  if (state === 'active' || state === 'degraded') return isWhole ? 'active' : 'degraded';
  return health.isServing ? (isWhole ? 'active' : 'degraded') : state;
}

/** The three conditions of a deployment. `last_transition_at` moves only with the status. */
export function conditionsOf(previous: readonly Condition[], facts: ConditionFacts, now: Date): Condition[] {
  const found: Record<ConditionType, ConditionFinding | undefined> = {
    Ready: ready(facts),
    Progressing: progressing(facts),
    Degraded: degraded(facts),
  };
  return (Object.keys(found) as ConditionType[]).map((type) => {
    const before = previous.find((one) => one.type === type);
    const finding = found[type] ?? before ?? unseen();
    const moved = before?.status !== finding.status;
    return {
      type,
      status: finding.status,
      reason: finding.reason,
      message: finding.message,
      last_transition_at: moved ? now.toISOString() : (before as Condition).last_transition_at,
    };
  });
}

export function sameConditions(one: readonly Condition[], other: readonly Condition[]): boolean {
  return (
    one.length === other.length &&
    one.every((condition, index) => {
      const twin = other[index] as Condition;
      return (
        condition.type === twin.type &&
        condition.status === twin.status &&
        condition.reason === twin.reason &&
        condition.message === twin.message
      );
    })
  );
}

function ready({ state, health }: ConditionFacts): ConditionFinding | undefined {
  if (state === 'deleting') return no('Deleting', 'The deployment is being deleted.');
  if (!health) return undefined;
  if (!health.isRouted) return no('NoRoute', 'No revision has traffic yet: roll one out or set the route.');
  if (!health.isServing)
    return no(
      'NoReadyInstance',
      `A revision with traffic has no instance that answers (${health.ready} of ${health.desired} ready).`,
    );
  if (health.isAsleep)
    return yes('Asleep', 'No instance runs because nobody asks; the next request waits for a start.');
  return yes('Serving', `${health.ready} of ${health.desired} instances are ready.`);
}

function progressing({ state, currentOperationId }: ConditionFacts): ConditionFinding {
  if (state === 'deleting') return yes('Deleting', 'The deployment is being deleted.');
  if (currentOperationId === null) return no('Idle', 'No operation is running.');
  if (state === 'paused') return yes('OperationPaused', `Operation ${currentOperationId} waits for a person.`);
  return yes('OperationRunning', `Operation ${currentOperationId} is running.`);
}

function degraded({ state, health }: ConditionFacts): ConditionFinding | undefined {
  if (state === 'deleting') return no('Deleting', 'The deployment is being deleted.');
  if (!health) return undefined;
  if (!health.isRouted) return no('NoRoute', 'No revision has traffic.');
  if (health.isAsleep) return no('Asleep', 'No instance runs because nobody asks.');
  if (!health.isServing || health.ready < health.desired)
    return yes('InstancesNotReady', `${health.ready} of ${health.desired} instances are ready.`);
  return no('AllInstancesReady', 'All instances behind the route are ready.');
}

function unseen(): ConditionFinding {
  return no('NoRoute', 'No revision has traffic.');
}

function yes(reason: string, message: string): ConditionFinding {
  return { status: 'True', reason, message };
}

function no(reason: string, message: string): ConditionFinding {
  return { status: 'False', reason, message };
}
