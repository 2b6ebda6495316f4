import { Inject, Injectable } from '@nestjs/common';
import type { RevisionSpec } from '@slipway/contracts';
import {
  arrivalCounts,
  availabilityOf,
  serviceRecords,
  statsCompleteUntil,
  type ArrivalCount,
} from '@slipway/dataplane';
import { digestOf, type Tx } from '@slipway/platform-database';
import type { PolicyContent } from '@slipway/ports/policies';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import type { ServedSince } from '../learning/outcomes.js';
import { RECORDED_SECONDS } from './goals.js';
import { rangeSince, rangesOf, withoutGaps, type ReadRanges } from './read-ranges.js';
import type { ReviewRecords } from './situation.js';

/** Revisions that are compared with the active one, the newest. A deployment may have thousands. */
const MOST_REVISIONS = 100;
/** Few, because a spec may have long arguments and variables. */
const SPECS_AT_ONCE = 25;

/** Reads the records of a deployment that say something about its active revision. */
@Injectable()
export class RecordsReader {
  constructor(@Inject(REVISIONS) private readonly revisions: RevisionsPort) {}

  /** Returns undefined if no gateway reports, or if a window as long as the policy requires is not kept. */
  async read(
    tx: Tx,
    active: Pick<Revision, 'id' | 'deploymentId' | 'spec'>,
    policy: PolicyContent,
  ): Promise<ReviewRecords | undefined> {
    const reported = await statsCompleteUntil(tx);
    if (!reported || policy.evidence.min_duration_seconds > RECORDED_SECONDS) return undefined;
    const ids = await this.alike(tx, active);
    const arrivals = await this.arrivals(tx, ids, rangesOf(policy, reported), reported);
    // Records of a minute are merged a little later than the gateways report, and arrivals end where the records end.
    const { to, window, history } = rangesOf(policy, endOf(arrivals) ?? reported);
    const all = await serviceRecords(tx, ids, { ...history, to });
    const own = ids.length === 1 ? all : await serviceRecords(tx, [active.id], { ...window, to });
    return {
      revisionId: active.id,
      from: window.from,
      to,
      window: withoutGaps(own, window, to),
      history: all,
      arrivals,
      availability: await availabilityOf(tx, [active.id], { from: history.from, to }),
    };
  }

  /**
   * Returns what a revision has served since a time, in whole minutes: minutes for the last hours, and hours before them.
   * Undefined if no gateway reports.
   */
  async since(tx: Tx, revisionId: string, from: Date): Promise<ServedSince | undefined> {
    const reported = await statsCompleteUntil(tx);
    const range = reported && rangeSince(from, reported);
    if (!range) return undefined;
    return {
      records: await serviceRecords(tx, [revisionId], range),
      availability: await availabilityOf(tx, [revisionId], range),
    };
  }

  /** Minutes are kept for eight days; a policy may require that fewer replicas were enough for longer. */
  private async arrivals(
    tx: Tx,
    ids: readonly string[],
    { arrivalsFrom: from, olderArrivalsFrom: olderFrom }: ReadRanges,
    to: Date,
  ): Promise<ArrivalCount[]> {
    const minutes = await arrivalCounts(tx, ids, { from, to });
    if (olderFrom >= from) return minutes;
    const hours = await serviceRecords(tx, ids, { from: olderFrom, minutesFrom: from, to: from });
    return [...hours.map(({ at, seconds, arrivals: count }) => ({ at, seconds, count })), ...minutes];
  }

  /** Returns the revisions that differ only in the number of instances: their values by load are the same. */
  private async alike(tx: Tx, active: Pick<Revision, 'id' | 'deploymentId' | 'spec'>): Promise<string[]> {
    const own = settingsDigest(active.spec);
    const newest = (await this.revisions.idsOf(tx, active.deploymentId)).slice(-MOST_REVISIONS);
    const alike: string[] = [];
    for (let at = 0; at < newest.length; at += SPECS_AT_ONCE) {
      const some = await this.revisions.getMany(tx, newest.slice(at, at + SPECS_AT_ONCE));
      alike.push(...some.filter(({ spec }) => settingsDigest(spec) === own).map(({ id }) => id));
    }
    return [active.id, ...alike.filter((id) => id !== active.id)];
  }
}

function endOf(arrivals: readonly ArrivalCount[]): Date | undefined {
  const last = arrivals.at(-1);
  return last && new Date(last.at.getTime() + last.seconds * 1_000);
}

function settingsDigest({ scaling: _, ...settings }: RevisionSpec): string {
  return digestOf(settings);
}
