import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ApiError, isMissingRight, UnreachableError, type ApiCall } from './errors.js';
import { LONGEST_RETRY_AFTER_MS, type RetryBudget } from './retry-budget.js';

/** The cause of a failure, which decides which other calls would fail as well. */
type Trouble = 'away' | 'busy' | 'identity' | 'right' | 'object';

/** The longest pauses. A repair is noticed after at most this time, and the time until the budget has a try. */
const LONGEST_MS: Record<Trouble, number> = {
  away: 4_000,
  busy: 10_000,
  identity: 8_000,
  right: 8_000,
  object: 15_000,
};
const FIRST_MS = 1_000;
const MOST_PAUSES = 10_000;
/** After this many refusals in a row, a kind of call that has not succeeded yet needs a try of the budget. */
const REFUSALS_IN_A_ROW = 5;
const IDENTITY = '401';
/** Failures of this client, which say nothing about the server. */
const OWN_CODES = new Set(['BUSY', 'CLOSED', 'TOO_LARGE', 'PAUSED']);

interface Pause {
  trouble: Trouble;
  failures: number;
  until: number;
  error: ApiError | UnreachableError;
}

interface Refusal {
  error: Error;
  waitMs: number;
}

/**
 * Decides whether one identity may send a call now. After a failure, calls that would fail alike wait: of all kinds
 * after a 401; of the same verb, resource and namespace after a missing right or a server in trouble; for the same object
 * after a refusal of its content. Pauses double with jitter, and each try after a failure comes from the budget of the
 * server. A caller that cannot wait gets the last error again, without a request.
 */
export class CallGate {
  private readonly pauses = new LRUCache<string, Pause>({ max: MOST_PAUSES });
  private readonly good = new LRUCache<string, true>({ max: MOST_PAUSES });
  private refusals = 0;

  constructor(
    private readonly server: string,
    readonly budget: RetryBudget,
    private readonly random: () => number = Math.random,
  ) {}

  /**
   * @returns whether the call takes a try of the budget, for `succeeded`
   * @throws ApiError, UnreachableError like the last such call, if this one may not be sent now
   */
  pass(call: ApiCall): boolean {
    const { needsTry, refusal } = this.check(call, false);
    if (refusal) throw refusal.error;
    return needsTry;
  }

  /** Waits until the call may be sent. Throws if the signal fires. */
  async opened(call: ApiCall, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const { needsTry, refusal } = this.check(call, true);
      if (!refusal) return needsTry;
      await sleep(refusal.waitMs * (1 + 0.5 * this.random()), undefined, { signal });
    }
  }

  /** Milliseconds until the call may be sent again. */
  waitMs(call: ApiCall): number {
    const { now } = this.budget;
    return Math.max(0, ...this.pausesOf(call).map(({ until }) => until - now()));
  }

  /** Whether the last call of the identity was refused with 401. */
  get isIdentityRefused(): boolean {
    return this.pauses.has(IDENTITY);
  }

  /** The last refusal of the call, if it still waits for its next try or needs one. */
  refusalOf(call: ApiCall): ApiError | undefined {
    const error = this.pauses.get(objectOf(call))?.error ?? this.pauses.get(classOf(call))?.error;
    return error instanceof ApiError ? error : undefined;
  }

  /** The call that took a try answered; also if it answered that something does not exist. */
  succeeded(call: ApiCall, isRetry: boolean): void {
    this.budget.succeeded(isRetry);
    this.pauses.delete(IDENTITY);
    this.pauses.delete(objectOf(call));
    this.pauses.delete(classOf(call));
    this.good.set(classOf(call), true);
    if (isAboutModels(call)) this.refusals = 0;
  }

  failed(call: ApiCall, error: unknown, isRetry: boolean): void {
    const trouble = troubleIn(error);
    if (trouble === undefined) {
      if (error instanceof ApiError) this.succeeded(call, isRetry);
      return;
    }
    const known = error as ApiError | UnreachableError;
    const asked = known instanceof ApiError ? (known.retryAfterSeconds ?? 0) * 1_000 : 0;
    if (isOfServer(trouble, known)) this.budget.failed(error, asked);
    else this.budget.succeeded(false);
    if (trouble !== 'identity') this.pauses.delete(IDENTITY);
    if (trouble === 'right' && isAboutModels(call)) this.refusals += 1;
    if (trouble !== 'object') this.good.delete(classOf(call));
    this.pause(trouble === 'identity' ? IDENTITY : trouble === 'object' ? objectOf(call) : classOf(call), {
      trouble,
      error: known,
      asked,
    });
  }

  /** A right was granted, or an object may succeed for another reason: the next call need not wait for its time. */
  reopen(isConcerned: (call: ApiCall) => boolean): void {
    for (const pause of this.pauses.values())
      if (pause.error instanceof ApiError && isConcerned(pause.error.call)) pause.until = 0;
  }

  private check(call: ApiCall, isPatient: boolean): { needsTry: boolean; refusal?: Refusal } {
    const { budget } = this;
    const pauses = this.pausesOf(call);
    const waiting = pauses.find(({ until }) => until > budget.now());
    if (waiting) return { needsTry: true, refusal: { error: again(waiting.error, call), waitMs: this.waitMs(call) } };
    const isUnproven = this.refusals >= REFUSALS_IN_A_ROW && isAboutModels(call) && !this.good.has(classOf(call));
    const needsTry = pauses.length > 0 || budget.isServerInTrouble || isUnproven;
    if (!needsTry || budget.take(isPatient)) return { needsTry };
    const error = pauses[0] ? again(pauses[0].error, call) : this.paused();
    return { needsTry, refusal: { error, waitMs: budget.nextTryMs } };
  }

  private pausesOf(call: ApiCall): Pause[] {
    return [IDENTITY, objectOf(call), classOf(call)].flatMap((key) => this.pauses.get(key) ?? []);
  }

  private pause(key: string, about: { trouble: Trouble; error: ApiError | UnreachableError; asked: number }): void {
    const { trouble, error, asked } = about;
    const before = this.pauses.get(key);
    const failures = before?.trouble === trouble ? before.failures + 1 : 1;
    // The first try may follow at once, because most failures are over then.
    const most = failures === 1 ? 0 : Math.min(LONGEST_MS[trouble], FIRST_MS * 2 ** Math.min(failures - 2, 10));
    const ownMs = most * (0.5 + 0.5 * this.random());
    const askedMs = Math.min(asked, LONGEST_RETRY_AFTER_MS) * (1 + 0.1 * this.random());
    const until = this.budget.now() + Math.max(ownMs, askedMs) / this.budget.shorter;
    this.pauses.set(key, { trouble, failures, until, error });
  }

  private paused(): UnreachableError {
    const words = `the last calls failed, so only a few are tried until one succeeds: ${this.budget.lastFailure}`;
    return new UnreachableError(this.server, 'PAUSED', words);
  }
}

function troubleIn(error: unknown): Trouble | undefined {
  if (error instanceof UnreachableError) return OWN_CODES.has(error.code) ? undefined : 'away';
  if (!(error instanceof ApiError)) return undefined;
  const { status, call } = error;
  if (status === 401) return 'identity';
  if (status === 429 || status >= 500) return 'busy';
  if (status === 403 && (isMissingRight(error) || call.name === undefined)) return 'right';
  if (status === 403 || status === 400 || status === 422) return 'object';
  // The type or the namespace does not exist.
  return status === 404 && ['list', 'watch', 'create'].includes(call.verb) ? 'right' : undefined;
}

/** A webhook that does not answer is not the server, which itself works. */
function isOfServer(trouble: Trouble, { message }: Error): boolean {
  return trouble === 'away' || (trouble === 'busy' && !/fail\w+ (?:calling|to call) webhook/.test(message));
}

const classOf = ({ verb, resource, group, namespace }: ApiCall): string => `${verb} ${resource}.${group} ${namespace}`;
const objectOf = (call: ApiCall): string => `${classOf(call)} ${call.name ?? ''}`;

/** Every account may make reviews, so their answers say nothing about other calls. */
const isAboutModels = ({ group, resource }: ApiCall): boolean =>
  group !== 'authorization.k8s.io' && resource !== 'version';

/** The same refusal for another call of its kind, without the name of the object that was refused. */
function again(error: ApiError | UnreachableError, call: ApiCall): Error {
  if (!(error instanceof ApiError) || error.call.name === call.name) return error;
  const { status, reason, details, words } = error;
  const message = words.replace(/^\S+ "[^"]*" is forbidden: /, '');
  return new ApiError(call, status, { kind: 'Status', reason, message, details: { causes: details.causes } });
}
