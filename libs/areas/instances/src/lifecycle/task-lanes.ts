import pLimit from 'p-limit';
import type { TaskKind } from './pass-plan.js';

/** Where a target has thousands of instances, all may change at once; each task has a connection to Postgres for a while. */
const AT_ONCE = 32;

/** What the target is asked to do, which takes it a while. */
const DEEDS: ReadonlySet<TaskKind> = new Set(['start', 'reclaim', 'terminate']);

/**
 * Tasks of a target that tells of changes by itself, so many at once. What is only looked at has a lane of its own: a server that has become
 * ready must not stay out of the gateways' sight until a thousand others are begun.
 */
export class TaskLanes {
  private readonly deeds = pLimit(AT_ONCE);
  private readonly looks = pLimit(AT_ONCE);

  run<T>(kind: TaskKind, work: () => Promise<T>): Promise<T> {
    return (DEEDS.has(kind) ? this.deeds : this.looks)(work);
  }
}
