import {
  beginWatch,
  dueChecks,
  GUARDS,
  judgeEarly,
  judgeSoak,
  watchedShares,
  watchOn,
  type CheckWindow,
  type GateRecords,
  type Judgement,
  type StoredGate,
  type Strategy,
} from '@slipway/area-rollouts/analysis';
import { countsBySecond, statsBetween, type QueryClient, type RequestStats } from '@slipway/dataplane';
import { METRICS } from './gate-metrics.js';
import { Traffic, type TrafficSettings } from './traffic.js';

/*
 * One soak of four as a rollout runs it: every two seconds the records so far are read, and judged if a share is proven
 * or latencies are due. The end is judged once more. Nothing was recorded before the soak.
 */

const SOAK_SECONDS = 180;
const LOOK_SECONDS = 2;
const STEPS = 4;

const GATE: StoredGate = { metrics: METRICS, guards: [...GUARDS], on_failure: 'rollback', on_inconclusive: 'pause' };

export interface SoakOutcome {
  judgement: Judgement;
  /** When it was judged; the whole soak if nothing stopped it. */
  seconds: number;
}

export async function wholeSoak(settings: TrafficSettings): Promise<SoakOutcome> {
  const traffic = new Traffic(settings);
  const { client: db, counts: countsDb } = traffic.table;
  const step = { traffic_percent: 100 * settings.candidateShare, soak_seconds: SOAK_SECONDS, requires_approval: false };
  const strategy = { type: 'canary', steps: Array.from({ length: STEPS }, () => step) } satisfies Strategy;
  const watched = watchedShares(GATE);
  const from = new Date(0);
  let watch = beginWatch(from);
  for (let seconds = LOOK_SECONDS; seconds <= SOAK_SECONDS; seconds += LOOK_SECONDS) {
    for (let second = seconds - LOOK_SECONDS + 1; second <= seconds; second += 1) traffic.runUntil(second);
    const to = new Date(seconds * 1_000);
    const counts = await countsBySecond(countsDb, ['candidate', 'baseline'], new Date(watch.until), to);
    watch = watchOn(watch, counts, { watched, candidateId: 'candidate', until: to });
    const due = dueChecks(watch, { watched, strategy, soakSeconds: SOAK_SECONDS, elapsedMs: seconds * 1_000 });
    watch = due.watch;
    const judged = { gate: GATE, strategy };
    // Between planned looks only shares can stop a soak.
    const records = recordsOf(due.early?.isPlanned ? db : countsDb);
    const early = due.early && (await judgeEarly(records, judged, { from, to }, due.early));
    if (early) return { judgement: early, seconds };
    if (seconds === SOAK_SECONDS) return { judgement: await judgeSoak(recordsOf(db), judged, { from, to }), seconds };
  }
  throw new Error('a soak has looks');
}

/** Reads each window once. */
function recordsOf(db: QueryClient): GateRecords {
  const known = new Map<string, Promise<RequestStats>>();
  const read = (side: string, { from, to }: CheckWindow): Promise<RequestStats> => {
    const key = `${side} ${from.getTime()} ${to.getTime()}`;
    const stats = known.get(key) ?? statsBetween(db, side, from, to);
    known.set(key, stats);
    return stats;
  };
  return {
    candidate: (window) => read('candidate', window),
    async *stable(window) {
      yield { stats: await read('baseline', window), basis: 'same_time' };
    },
    isStableReady: () => Promise.resolve(true),
  };
}
