import type { Distribution } from '@slipway/contracts';
import type { HistogramRecorder } from '@slipway/dataplane';
import type { Metering } from '../answers/meter.js';
import type { AttemptLoad } from '../upstream/in-flight.js';

export type AttemptClass = 'ok' | 'client_error' | 'server_error' | 'connect_error' | 'cancelled';

/** One ended attempt. */
export interface AttemptRecord {
  class: AttemptClass;
  /** Another attempt followed. */
  isRetried: boolean;
  e2eMs: number;
  /** Null unless the answer was a stream. */
  ttftMs: number | null;
  isStream: boolean;
  metering: Metering | null;
  /** Load of its instance meanwhile. */
  load: AttemptLoad;
  /** Number of instances that the gateway chose from. */
  instances: number;
}

/** A successful attempt. Failed ones are not measured: they would make a broken revision look fast. */
export type GoodAttempt = AttemptRecord & { metering: Metering };

/**
 * How each metric of `libs/contracts` is measured: which values one successful attempt adds to the metric's histogram.
 */
export const MEASUREMENTS: { readonly [M in Distribution]: (attempt: GoodAttempt, values: HistogramRecorder) => void } =
  {
    ttft_ms({ isStream, ttftMs }, values) {
      if (isStream && ttftMs !== null) values.record(ttftMs);
    },
    itl_ms({ isStream, metering }, values) {
      if (isStream) for (const [gapMs, tokens] of metering.gaps) values.record(gapMs, tokens);
    },
    e2e_latency_ms({ e2eMs }, values) {
      values.record(e2eMs);
    },
    output_tokens_per_s({ e2eMs, metering }, values) {
      if (metering.tokensOut > 0) values.record((metering.tokensOut * 1000) / Math.max(e2eMs, 0.001));
    },
  };
