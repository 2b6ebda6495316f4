import { timeLimit } from '@slipway/contracts';
import { request, type Dispatcher } from 'undici';
import type { EngineLoad } from './driver.js';
import type { MetricsConfig } from './templates/template-config.js';

/** Engines report some hundred lines. A longer answer is not from an engine, or is hostile. */
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 2_000;
const MOST_WAITING = 1_000_000;

/** A sample of the Prometheus text format: name, labels, value. A label may contain anything except a line end. */
const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{.*\})?[ \t]+([^ \t]+)/;

/**
 * Requests once from an engine how much work waits in it. Undefined if the engine does not report it, for any reason.
 * Never throws.
 * @param asked.key the engine's own key, for engines that refuse requests without it
 */
export async function askEngineLoad(
  baseUrl: string,
  metrics: MetricsConfig,
  { dispatcher, key }: { dispatcher: Dispatcher; key?: string },
): Promise<EngineLoad | undefined> {
  const { signal, stop } = timeLimit(TIMEOUT_MS);
  try {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const { statusCode, body } = await request(`${baseUrl}${metrics.path}`, { dispatcher, signal, headers });
    let text = '';
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) {
        body.destroy();
        return undefined;
      }
      text += chunk.toString('latin1');
    }
    return statusCode === 200 ? readEngineLoad(text, metrics) : undefined;
  } catch {
    return undefined;
  } finally {
    stop();
  }
}

/**
 * Adds up the waiting requests of several series of a name, such as those of several models in one engine. Of memory
 * shares it takes the highest.
 */
export function readEngineLoad(text: string, metrics: Pick<MetricsConfig, 'waiting' | 'kv_usage'>): EngineLoad {
  const wanted = new Set([...namesOf(metrics.waiting), ...namesOf(metrics.kv_usage)]);
  const series = new Map<string, { sum: number; most: number }>();
  for (const line of text.split('\n')) {
    const [, name = '', said = ''] = SAMPLE.exec(line) ?? [];
    const value = Number(said);
    if (!wanted.has(name) || !Number.isFinite(value) || value < 0) continue;
    const { sum, most } = series.get(name) ?? { sum: 0, most: 0 };
    series.set(name, { sum: sum + value, most: Math.max(most, value) });
  }
  const first = (names: MetricsConfig['waiting']) => series.get(namesOf(names).find((name) => series.has(name)) ?? '');
  const waiting = first(metrics.waiting);
  const kvUsage = first(metrics.kv_usage);
  return {
    waiting: waiting ? Math.min(MOST_WAITING, waiting.sum) : null,
    kvUsage: kvUsage ? Math.min(1, kvUsage.most) : null,
  };
}

function namesOf(names: string | string[] | undefined): string[] {
  return names === undefined ? [] : [names].flat();
}
