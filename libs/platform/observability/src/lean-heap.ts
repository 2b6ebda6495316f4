import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/*
 * Imported before anything else. While modules load, V8 lets the young generation grow to 33 MB and keeps them. Later V8
 * has no reason to collect the garbage that thousands of operations left in the old generation. A process that mostly
 * waits for Postgres needs neither, and V8 reads this flag at each collection (decision 0012).
 */
const LEAN = '--optimize-for-size';
const USUAL = '--no-optimize-for-size';
setFlagsFromString(LEAN);

const CHECK_MS = 200;
/** Share of a check's time in which the event loop was not idle. */
const BUSY = 0.2;

/**
 * From now on V8 may use its usual heap while this process is busy, because frequent collections cost it throughput then.
 * Call it once, when the process has started.
 */
export function growHeapWhileBusy(): void {
  let isLean = true;
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization >= BUSY !== isLean) return;
    isLean = !isLean;
    setFlagsFromString(isLean ? LEAN : USUAL);
  }, CHECK_MS).unref();
}
