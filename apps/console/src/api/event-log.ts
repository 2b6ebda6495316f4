import type { DeploymentEvent } from '@slipway/sdk';

/** Events that are kept in memory; the api keeps older ones. */
export const MOST_KEPT = 1_000;
/** The log may grow by this much before the oldest events are removed, so that they are not removed one by one. */
const SLACK = 250;

export interface LoggedEvent {
  event: DeploymentEvent;
  /** How many events before it are missing here, according to its `sequence`, which has no gaps. */
  missingBefore: number;
}

/** The newest events of one deployment, in order, each once. */
export class EventLog {
  private kept: LoggedEvent[] = [];
  private newest: number | undefined;

  /** The event after which to continue; undefined if there is none yet. */
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

  /** Oldest first; the reader owns the array. */
  all(): LoggedEvent[] {
    return this.kept.slice(-MOST_KEPT);
  }
}
