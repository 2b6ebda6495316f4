import { statsBetween, type RequestStats, type StatsWindow } from '@slipway/dataplane';
import { InFlightCounter, Recorder, Stay } from '@slipway/gateway/telemetry';
import { randomFrom } from '@slipway/inference-sim/random';
import { capacityOf, Engine, ENGINES, type EngineName } from './engine.js';
import { exponential, logNormal } from './random.js';
import { tableOf } from './table.js';

export interface SoakSettings {
  engine: EngineName;
  /** Utilisation of the baseline's engine by its traffic during the soak. */
  utilisation: number;
  /** Share of the candidate in the traffic, 0 to 1. */
  candidateShare: number;
  /** The soak lasts until the candidate has answered this many requests. */
  candidateSamples: number;
  /** How much longer the candidate takes for the same request: 1 is identical. */
  slowness: number;
  /** Share of failing requests on both sides, 0 to 1. */
  errorRate: number;
  /** Average duration of a request on an idle engine, in milliseconds; a longer one makes the soak longer. */
  workMs: number;
  /** Standard deviation of the logarithm of a request's work: the mix of long and short answers. */
  sigma: number;
  /** Average number of requests that arrive together; 1 means independent arrivals. */
  burst: number;
  /** Gateways that share the traffic, each with its own recorder. */
  gateways: number;
  seed: number;
}

const FIRST_TOKEN_SHARE = 0.3;
const SIDES = ['candidate', 'baseline'] as const;
type Side = (typeof SIDES)[number];

interface Request {
  startedAt: number;
  firstTokenMs: number | null;
  gateway: Gateway;
  stay: Stay;
  isFailing: boolean;
}

interface Gateway {
  recorder: Recorder;
  inFlight: Record<Side, InFlightCounter>;
}

/**
 * Runs one soak on a virtual clock: random arrivals, one engine for each side. The gateways run the product's own code:
 * they count requests in flight, record them, and write windows, which are read and merged as from Postgres.
 */
export async function soak(settings: SoakSettings): Promise<Record<Side, RequestStats>> {
  const random = randomFrom(settings.seed);
  const kind = ENGINES[settings.engine];
  const engines = { candidate: new Engine<Request>(kind), baseline: new Engine<Request>(kind) };
  const gateways = Array.from({ length: settings.gateways }, (_, index): Gateway => ({
    recorder: new Recorder(`gw_${index}`, 0),
    inFlight: { candidate: new InFlightCounter(0), baseline: new InFlightCounter(0) },
  }));
  const meanGapMs = (1 - settings.candidateShare) / (settings.utilisation * capacityOf(kind, settings.workMs));
  const windows: StatsWindow[] = [];
  let now = 0;
  let answered = 0;
  let busyUntil = Infinity;
  for (let seconds = 0; now < busyUntil;) {
    const isWithTheLast = settings.burst > 1 && random() > 1 / settings.burst;
    const arrivesAt = now + (isWithTheLast ? 0 : exponential(random, meanGapMs * settings.burst));
    for (const side of SIDES) {
      for (let event = engines[side].next(arrivesAt); event; event = engines[side].next(arrivesAt)) {
        if (event.what === 'first_token') firstToken(event.request, event.at);
        else if (finish(event.request, side, event.at) && side === 'candidate') answered += 1;
      }
    }
    now = arrivesAt;
    const side: Side = random() < settings.candidateShare ? 'candidate' : 'baseline';
    const gateway = gateways[Math.floor(random() * gateways.length)] as Gateway;
    const workMs = logNormal(random, settings.workMs, settings.sigma) * (side === 'candidate' ? settings.slowness : 1);
    const request = enter(gateway, side, now, random() < settings.errorRate);
    engines[side].arrive(now, request, FIRST_TOKEN_SHARE * workMs, workMs);
    if (answered >= settings.candidateSamples && busyUntil === Infinity) busyUntil = now;
    if (now > (seconds + 60) * 1_000) {
      seconds = now / 1_000;
      for (const { recorder } of gateways) windows.push(...recorder.take(now).windows);
    }
  }
  for (const { recorder } of gateways) windows.push(...recorder.takeAll());
  const until = new Date(Math.ceil(now / 1_000 + 1) * 1_000);
  const [candidate, baseline] = await Promise.all(
    SIDES.map((side) => statsBetween(tableOf(windows), side, new Date(0), until)),
  );
  return { candidate: candidate as RequestStats, baseline: baseline as RequestStats };
}

function enter(gateway: Gateway, side: Side, now: number, isFailing: boolean): Request {
  const inFlight = gateway.inFlight[side];
  const stay = new Stay(inFlight, now);
  inFlight.enter(now);
  return { startedAt: now, firstTokenMs: null, gateway, stay, isFailing };
}

function firstToken(request: Request, now: number): void {
  request.firstTokenMs = now - request.startedAt;
  request.stay.noteFirstToken(now);
}

/** Whether the request succeeded. */
function finish({ gateway, stay, startedAt, firstTokenMs, isFailing }: Request, side: Side, now: number): boolean {
  const load = stay.load(now);
  gateway.inFlight[side].leave(now);
  const record = {
    class: isFailing ? ('server_error' as const) : ('ok' as const),
    isRetried: false,
    e2eMs: now - startedAt,
    ttftMs: firstTokenMs,
    isStream: true,
    metering: {
      tokensIn: 1,
      tokensOut: 1,
      firstTokenAt: startedAt + (firstTokenMs ?? 0),
      itlMs: null,
      longestGapMs: null,
    },
    load,
    instances: 1,
  };
  gateway.recorder.add(side, 'simulation', record, now);
  return !isFailing;
}
