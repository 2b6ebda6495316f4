import { InFlightCounter, Recorder, Stay, type WaitingRequest } from '@slipway/gateway/telemetry';
import { randomFrom } from '@slipway/inference-sim/random';
import { Engine, ENGINES } from './engine.js';
import { logNormal } from './random.js';
import { COMPUTED, Sessions, type Session } from './sessions.js';
import { StatsTable } from './table.js';

/** The fault of a candidate. */
export interface Fault {
  /** How much longer it takes for the same request; 1 if absent. */
  slowness?: number;
  /** Share of its requests that fail in addition, 0 to 1. */
  failing?: number;
  /** It never answers. */
  isHanging?: boolean;
}

export interface TrafficSettings {
  seed: number;
  /** Utilisation of the baseline's engine by its part of the traffic. */
  utilisation: number;
  /** 0 to 1. */
  candidateShare: number;
  fault: Fault;
}

const REQUESTS_PER_SECOND = 20;
const FIRST_TOKEN_SHARE = 0.3;
/** Standard deviation of the logarithm of a request's work. */
const SIGMA = 0.4;
/** The baseline has requests in progress when the soak begins. */
const WARM_UP_MS = 20_000;
/** How long an answer takes that the engine does not compute. */
const REFUSAL_MS = 5;
/** How long clients wait for the first byte: most of them, and impatient ones. */
const PATIENCE_MS = 30_000;
const IMPATIENCE_MS = [2_000, 10_000] as const;

const SIDES = ['candidate', 'baseline'] as const;

type Outcome = 'ok' | 'client_error' | 'server_error' | 'abandoned';

interface Request {
  session: Session;
  startedAt: number;
  firstTokenMs: number | null;
  stay: Stay;
  waiting: WaitingRequest;
  outcome: Outcome;
}

/** Traffic of sessions on a virtual clock, through the product's own recorder. Each revision has one `shared` engine. */
export class Traffic {
  readonly table = new StatsTable();
  private now = -WARM_UP_MS;
  private readonly random: () => number;
  private readonly sessions: Sessions;
  private readonly recorder: Recorder;
  private readonly engines = {
    candidate: new Engine<Request>(ENGINES.shared),
    baseline: new Engine<Request>(ENGINES.shared),
  };
  private readonly inFlight = { candidate: new InFlightCounter(this.now), baseline: new InFlightCounter(this.now) };
  private readonly workMs: number;
  /** Requests that the engine does not compute, by their end. */
  private readonly others: { at: number; request: Request }[] = [];
  private arrivesAt: number;

  constructor(private readonly settings: TrafficSettings) {
    const { seed, utilisation, candidateShare } = settings;
    this.random = randomFrom(seed);
    this.sessions = new Sessions(this.random, { requestsPerSecond: REQUESTS_PER_SECOND, candidateShare });
    const clock = { now: () => this.now };
    this.recorder = new Recorder('gw', this.now, clock, clock);
    this.workMs = (1_000 * utilisation) / ((1 - candidateShare) * COMPUTED * REQUESTS_PER_SECOND);
    this.arrivesAt = this.now + this.sessions.nextGapMs();
    for (let second = 1 - WARM_UP_MS / 1_000; second <= 0; second += 1) this.runUntil(second);
  }

  /** Runs to the end of a second, and records it. */
  runUntil(second: number): void {
    const end = second * 1_000;
    while (this.arrivesAt < end) {
      this.advance(this.arrivesAt);
      const session = this.sessions.next();
      // The candidate gets its first request when the soak begins.
      if (session && (this.now >= 0 || session.side === 'baseline')) this.arrive(session);
      this.arrivesAt += this.sessions.nextGapMs();
    }
    this.advance(end);
    this.table.add(this.recorder.take(end).windows);
  }

  private arrive(session: Session): void {
    const { side } = session;
    const { random, now, settings } = this;
    const fault = side === 'candidate' ? settings.fault : {};
    const inFlight = this.inFlight[side];
    const stay = new Stay(inFlight, now);
    inFlight.enter(now);
    session.inProgress += 1;
    const waiting = { keys: [{ id: side, tenantId: 'simulation' }], caller: session.caller, startedAt: now };
    this.recorder.waiting.add(waiting);
    const workMs = logNormal(random, this.workMs, SIGMA) * (fault.slowness ?? 1);
    const request: Request = { session, startedAt: now, firstTokenMs: null, stay, waiting, outcome: 'ok' };
    // All are drawn for each request, so that the same seed has the same traffic for any candidate, while it answers.
    const [leaves, refused, fails, isFaulty, patience] = [random(), random(), random(), random(), random()];
    if (fault.isHanging || leaves < session.leaving) {
      const [least, most] = IMPATIENCE_MS;
      const waitsMs = leaves < session.leaving ? least + patience * (most - least) : PATIENCE_MS;
      this.endLater({ ...request, outcome: 'abandoned' }, now + waitsMs);
    } else if (isFaulty < (fault.failing ?? 0))
      this.endLater({ ...request, outcome: 'server_error' }, now + REFUSAL_MS);
    else if (refused < session.refused) this.endLater({ ...request, outcome: 'client_error' }, now + REFUSAL_MS);
    else
      this.engines[side].arrive(
        now,
        { ...request, outcome: fails < session.failing ? 'server_error' : 'ok' },
        FIRST_TOKEN_SHARE * workMs,
        workMs,
      );
  }

  private endLater(request: Request, at: number): void {
    const after = this.others.findIndex((other) => other.at > at);
    this.others.splice(after < 0 ? this.others.length : after, 0, { at, request });
  }

  /** Everything that ends until then, in its order. */
  private advance(until: number): void {
    for (let next = this.others[0]; next && next.at <= until; next = this.others[0]) {
      this.others.shift();
      this.compute(next.at);
      this.finish(next.request, next.at);
    }
    this.compute(until);
    this.now = until;
  }

  private compute(until: number): void {
    for (const side of SIDES)
      for (let event = this.engines[side].next(until); event; event = this.engines[side].next(until)) {
        if (event.what === 'first_token') this.firstToken(event.request, event.at);
        else this.finish(event.request, event.at);
      }
  }

  private firstToken(request: Request, at: number): void {
    request.firstTokenMs = at - request.startedAt;
    request.stay.noteFirstToken(at);
    this.recorder.waiting.delete(request.waiting);
  }

  private finish({ session, startedAt, firstTokenMs, stay, waiting, outcome }: Request, at: number): void {
    const load = stay.load(at);
    this.inFlight[session.side].leave(at);
    this.recorder.waiting.delete(waiting);
    session.inProgress -= 1;
    const ms = at - startedAt;
    const metering = {
      tokensIn: 1,
      tokensOut: 0,
      firstTokenAt: startedAt + (firstTokenMs ?? 0),
      itlMs: null,
      longestGapMs: null,
    };
    const record = {
      class: outcome,
      isRetried: false,
      e2eMs: ms,
      ttftMs: outcome === 'abandoned' ? ms : firstTokenMs,
      isStream: true,
      metering: outcome === 'ok' ? metering : null,
      load,
      instances: 1,
      caller: session.caller,
      ...(outcome === 'abandoned' && { waitedMs: ms }),
    };
    this.recorder.add(session.side, 'simulation', record, at);
  }
}
