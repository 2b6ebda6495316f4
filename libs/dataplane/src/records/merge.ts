import { mergeHistograms, type Histogram } from '../statistics/histogram.js';
import { loadsParts, mergeLoads, subtractLoads } from '../statistics/load.js';
import { addedCounts, histogramsOf, type StatsWindow } from '../statistics/stats.query.js';
import { emptyRecord, type RecordSeconds, type ServiceRecord } from './record.js';

const HOUR_MS = 3_600_000;

/**
 * Merges the windows of one revision, over all gateways, to one record. Pure. The windows must belong to the time of
 * the record. A gateway sees only its own part of an instance's load, so the load of the others is added to it.
 */
export function mergeWindows(windows: readonly StatsWindow[], at: Date, seconds: RecordSeconds): ServiceRecord {
  const sum = (pick: (window: StatsWindow) => number): number => added(windows, pick);
  const merged = (pick: (window: StatsWindow) => Histogram | undefined): Histogram =>
    mergeHistograms(windows.flatMap((window) => pick(window) ?? []));
  const loads = windows.map((window) => ({
    gatewayId: window.gateway_id,
    loads: window.loads && window.starting ? subtractLoads(window.loads, window.starting) : window.loads,
    busyMs: window.e2e_latency_ms.sum,
  }));
  return {
    at,
    seconds,
    gateways: new Set(windows.map(({ gateway_id }) => gateway_id)).size,
    instances: windows.reduce((most, window) => Math.max(most, window.loads?.instances ?? 0), 0),
    stats: {
      counts: addedCounts(windows),
      streamed: sum(({ streamed }) => streamed),
      tokens_in: sum(({ tokens_in }) => tokens_in),
      tokens_out: sum(({ tokens_out }) => tokens_out),
      ...histogramsOf((metric) => merged((window) => window[metric])),
      loads: mergeLoads(loadsParts(loads, seconds * 1_000)),
    },
    starting: histogramsOf((metric) =>
      mergeHistograms(windows.flatMap(({ starting }) => Object.values(starting?.histograms[metric] ?? {}))),
    ),
    arrivals: sum(arrivalsOf),
    sessionArrivals: sum((window) => window.session_arrivals ?? 0),
    held: merged((window) => window.held ?? undefined),
    refused: sum((window) => window.refused ?? 0),
    inputTokens: merged((window) => window.tokens?.input),
    outputTokens: merged((window) => window.tokens?.output),
    kvUsage: null,
    waiting: null,
  };
}

/**
 * Adds up records: the minutes of an hour, or those of several revisions at the same time. Pure. Records of several
 * times become one of an hour; without any record, the result is empty.
 */
export function mergeRecords(records: readonly ServiceRecord[]): ServiceRecord {
  const [first] = records;
  if (!first) return emptyRecord(new Date(0), 60);
  const sum = (pick: (record: ServiceRecord) => number): number => added(records, pick);
  const merged = (pick: (record: ServiceRecord) => Histogram): Histogram => mergeHistograms(records.map(pick));
  const start = records.reduce((least, { at }) => Math.min(least, at.getTime()), Infinity);
  const isOneTime = records.every(({ at, seconds }) => at.getTime() === start && seconds === first.seconds);
  const instances = mostAtOnce(records);
  return {
    at: new Date(isOneTime ? start : Math.floor(start / HOUR_MS) * HOUR_MS),
    seconds: isOneTime ? first.seconds : 3600,
    gateways: records.reduce((most, { gateways }) => Math.max(most, gateways), 0),
    instances,
    stats: {
      counts: addedCounts(records.map(({ stats }) => stats.counts)),
      streamed: sum(({ stats }) => stats.streamed),
      tokens_in: sum(({ stats }) => stats.tokens_in),
      tokens_out: sum(({ stats }) => stats.tokens_out),
      ...histogramsOf((metric) => merged(({ stats }) => stats[metric])),
      loads: { ...mergeLoads(records.map(({ stats }) => ({ loads: stats.loads, hidden: 0 }))), instances },
    },
    starting: histogramsOf((metric) => merged(({ starting }) => starting[metric])),
    arrivals: sum(({ arrivals }) => arrivals),
    sessionArrivals: sum(({ sessionArrivals }) => sessionArrivals),
    held: merged(({ held }) => held),
    refused: sum(({ refused }) => refused),
    inputTokens: merged(({ inputTokens }) => inputTokens),
    outputTokens: merged(({ outputTokens }) => outputTokens),
    kvUsage: largest(records.map(({ kvUsage }) => kvUsage)),
    waiting: largest(records.map(({ waiting }) => waiting)),
  };
}

/** A gateway of the previous release counts no arrivals. Its requests then count when they end. */
function arrivalsOf(window: StatsWindow): number {
  if (window.arrivals != null) return window.arrivals;
  const { ok, client_error, overloaded, server_error, connect_error, abandoned, cancelled } = window;
  const attempts = ok + client_error + overloaded + server_error + connect_error + abandoned + cancelled;
  return attempts - window.retried - window.overloaded_retried;
}

/** Revisions of one time have instances of their own; those of different times are mostly the same ones. */
function mostAtOnce(records: readonly ServiceRecord[]): number {
  const byTime = new Map<number, number>();
  for (const { at, instances } of records) byTime.set(at.getTime(), (byTime.get(at.getTime()) ?? 0) + instances);
  return [...byTime.values()].reduce((most, one) => Math.max(most, one), 0);
}

function largest(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
}

function added<T>(all: readonly T[], pick: (one: T) => number): number {
  return all.reduce((total, one) => total + pick(one), 0);
}
