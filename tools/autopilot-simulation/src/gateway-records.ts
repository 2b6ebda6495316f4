import { mergeWindows, type ArrivalCount, type ServiceRecord } from '@slipway/dataplane';
import { Recorder, Stay, type AttemptRecord } from '@slipway/gateway/telemetry';
import type { Pool, PoolObserver, PoolRequest } from './pool.js';

const REVISION = 'revision';
const TENANT = 'simulation';
const KEYS = [{ id: REVISION, tenantId: TENANT }];
const MINUTE_MS = 60_000;

/** The records of a gateway about the pools of one revision, merged to minutes as in the product. */
export class GatewayRecords implements PoolObserver {
  readonly records: ServiceRecord[] = [];
  readonly arrivals: ArrivalCount[] = [];
  /** Instances that the gateway chooses from. */
  replicas = 0;
  private readonly recorder: Recorder;

  /** @param minuteAt when the first minute begins */
  constructor(private minuteAt: number) {
    const clock = { now: () => this.minuteAt };
    this.recorder = new Recorder('gateway', minuteAt, clock, clock);
  }

  onStart(request: PoolRequest): void {
    request.stay = new Stay(request.instance.counter, request.startedAt);
    this.recorder.arrive(KEYS, this.replicas, false, request.startedAt);
  }

  onFirstToken({ stay }: PoolRequest, at: number): void {
    stay?.noteFirstToken(at);
  }

  onEnd(request: PoolRequest, at: number, isAbandoned: boolean): void {
    const { startedAt, firstTokenAt, inputTokens, outputTokens, isStarting, stay } = request;
    const e2eMs = at - startedAt;
    const isAnswered = !isAbandoned && firstTokenAt !== null;
    const metering = isAnswered
      ? {
          tokensIn: inputTokens,
          tokensOut: outputTokens,
          firstTokenAt,
          itlMs: (at - firstTokenAt) / (outputTokens - 1),
          longestGapMs: null,
        }
      : null;
    const record: AttemptRecord = {
      class: isAnswered ? 'ok' : 'abandoned',
      isRetried: false,
      e2eMs,
      ttftMs: isAnswered ? firstTokenAt - startedAt : e2eMs,
      isStream: true,
      metering,
      load: (stay as Stay).load(at),
      instances: this.replicas,
      isStarting,
      waitedMs: e2eMs,
    };
    this.recorder.add(REVISION, TENANT, record, at);
  }

  /** Ends a minute. The pool must have been computed until its end. */
  endMinute({ kvUsage, engineWaiting }: Pool): void {
    const at = new Date(this.minuteAt);
    this.minuteAt += MINUTE_MS;
    const record = mergeWindows(this.recorder.take(this.minuteAt).windows, at, 60);
    // The engines' own gauges come by another way than the windows of gateways.
    this.records.push({ ...record, kvUsage, waiting: engineWaiting });
    this.arrivals.push({ at, seconds: 60, count: record.arrivals });
  }
}
