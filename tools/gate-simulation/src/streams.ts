import { statsBetween, type RequestStats, type StatsWindow } from '@slipway/dataplane';
import { AnswerJudge, InFlightCounter, Recorder, Stay } from '@slipway/gateway/telemetry';
import { randomFrom } from '@slipway/inference-sim/random';
import { logNormal } from './random.js';
import { tableOf } from './table.js';

export interface StreamEngine {
  /** Average time of an output token. */
  tokenMs: number;
  /** Tokens in each event, drawn for each event. */
  tokensInEvent: readonly [least: number, most: number];
}

const STREAMS = 400;
const PAUSE_MS = 250;
const MEAN_TOKENS = 80;
const FIRST_TOKEN_MS = 100;
const HEADERS = { 'content-type': 'text/event-stream' };

/**
 * Streams of one engine, one at a time, on a virtual clock. The gateway's own code reads the bytes of the events,
 * measures and records them. The tokens of an event are sent when its last one is ready.
 */
export async function streamsOf(engine: StreamEngine, seed: number): Promise<RequestStats> {
  const random = randomFrom(seed);
  const recorder = new Recorder('gw', 0);
  const inFlight = new InFlightCounter(0);
  const windows: StatsWindow[] = [];
  let now = 0;
  for (let stream = 0; stream < STREAMS; stream += 1) {
    now = streamed(engine, { random, recorder, inFlight }, now + PAUSE_MS);
    windows.push(...recorder.take(now).windows);
  }
  windows.push(...recorder.takeAll());
  const until = new Date(Math.ceil(now / 1_000 + 1) * 1_000);
  return (await statsBetween(tableOf(windows), 'engine', new Date(0), until)) as RequestStats;
}

interface Gateway {
  random: () => number;
  recorder: Recorder;
  inFlight: InFlightCounter;
}

/** Returns when the stream has ended. */
function streamed(engine: StreamEngine, { random, recorder, inFlight }: Gateway, startedAt: number): number {
  const [least, most] = engine.tokensInEvent;
  const tokens = Math.max(2, Math.round(logNormal(random, MEAN_TOKENS, 0.5)));
  const tokenMs = logNormal(random, engine.tokenMs, 0.1);
  const judge = new AnswerJudge('/v1/chat/completions', 200, HEADERS);
  const stay = new Stay(inFlight, startedAt);
  inFlight.enter(startedAt);
  let at = startedAt + FIRST_TOKEN_MS;
  for (let left = tokens; left > 0;) {
    const count = Math.min(left, least + Math.floor(random() * (most - least + 1)));
    left -= count;
    at += count * tokenMs;
    const choice = { index: 0, delta: { content: ' word'.repeat(count) }, finish_reason: left === 0 ? 'stop' : null };
    if (judge.push(eventOf({ choices: [choice] }), at)) stay.noteFirstToken(at);
  }
  judge.push(eventOf({ choices: [], usage: { prompt_tokens: 9, completion_tokens: tokens } }), at);
  const { outcome } = judge.end();
  if (outcome !== 'ok') throw new Error(`a stream of the simulation is ${outcome}`);
  const metering = judge.read();
  const load = stay.load(at);
  inFlight.leave(at);
  const times = { e2eMs: at - startedAt, ttftMs: (metering.firstTokenAt ?? at) - startedAt };
  recorder.add(
    'engine',
    'simulation',
    { class: 'ok', isRetried: false, isStream: true, metering, load, instances: 1, ...times },
    at,
  );
  return at;
}

function eventOf(value: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
}
