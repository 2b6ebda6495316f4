import { servedRecords, type ServedTraffic } from '@slipway/diagnosis/testing';
import type { ReviewRecords } from '../src/rounds/situation.js';

/** Traffic until now. The last half hour is judged. */
export interface Service extends ServedTraffic {
  windowMinutes: number;
  /** Minutes with a refusal among those of the history. */
  refusedMinutes: number;
  /** How long ago the first request came, if that is before the records below. */
  olderMinutes: number;
}

/** Alone, the first token takes 100 ms and each further one 10 ms; both become slower with the load. */
export const SERVICE: Service = {
  firstTokenMs: (load) => 100 * load,
  perTokenMs: (load) => 10 * (1 + (load - 1) / 10),
  tokens: 400,
  loadIn: (minute) => (minute < 90 ? 1 + (minute % 6) * 2 : 14),
  minutes: 120,
  windowMinutes: 30,
  refusedMinutes: 0,
  olderMinutes: 0,
};

export const NOW = new Date('2026-06-01T12:00:00Z');
const MINUTE_MS = 60_000;

/** The records that a service leaves until now. */
export function recordsOf(changes: Partial<Service> = {}, seed = 1): ReviewRecords {
  const service = { ...SERVICE, ...changes };
  const { minutes, windowMinutes, olderMinutes, refusedMinutes } = service;
  const start = NOW.getTime() - minutes * MINUTE_MS;
  const history = servedRecords(service, new Date(start), seed);
  const arrivals = history.map(({ at, seconds, arrivals: count }) => ({ at, seconds, count }));
  const older = new Date(start - olderMinutes * MINUTE_MS);
  return {
    revisionId: 'rev_1',
    from: new Date(NOW.getTime() - windowMinutes * MINUTE_MS),
    to: NOW,
    window: history.slice(-windowMinutes),
    history,
    arrivals: olderMinutes > 0 ? [{ at: older, seconds: 60, count: 1 }, ...arrivals] : arrivals,
    availability: { minutes: minutes + olderMinutes, refusedMinutes },
  };
}
