import type { DeploymentEvent } from '@slipway/sdk';

/** What is kept in memory; older ones stay with the api. */
export const MOST_KEPT = 1_000;
/** How far it may grow before the oldest are let go: not one by one. */
const SLACK = 250;

export interface LoggedEvent {
  event: DeploymentEvent;
  /** How many that came before it are missing here: told by its `sequence`, which has no holes of its own. */
  missingBefore: number;
}

/** The newest events of one deployment, in their order, each once. */
export class EventLog {
  private kept: LoggedEvent[] = [];
  private newest: number | undefined;

  /** Behind which one to go on; undefined where nothing has come yet. */
  get lastSequence(): number | undefined {
    return this.newest;
  }

  /** @returns whether it is new here */
  add(event: DeploymentEvent): boolean {
    if (this.newest !== undefined && event.sequence <= this.newest) return false;
    const missingBefore = this.newest === undefined ? 0 : event.sequence - this.newest - 1;
    this.kept.push({ event, missingBefore });
    this.newest = event.sequence;
    if (this.kept.length > MOST_KEPT + SLACK) this.kept = this.kept.slice(-MOST_KEPT);
    return true;
  }

  /** Oldest first; the array is the reader's own. */
  all(): LoggedEvent[] {
    return this.kept.slice(-MOST_KEPT);
  }
}
