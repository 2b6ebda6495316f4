import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FairShare } from '@slipway/platform-bounds';
import { type RequestContext, runInRequest } from '../context/request-context.js';
import { errors } from '../errors/platform.errors.js';
import { fullPathOf, type RouteSpec } from '../routes/route-spec.js';
import type { SlipwayRequest } from './slipway-request.js';

/**
 * A unit is about half a millisecond of the event loop: a small answer costs one or two. A tenant next to others has
 * as many units at a time as may delay the others by about 10 ms.
 */
const CONTENDED_UNITS = 16;
/** Enough to keep the event loop and every connection to Postgres busy. */
const ALONE_UNITS = 128;
const TOTAL_UNITS = 256;
/** An operation that the tenant has not used lately. */
const UNKNOWN_UNITS = 4;
/** Bytes that are read from Postgres, or made as JSON, in one unit. */
const BYTES_PER_UNIT = 16 * 1024;
/** Statements of a transaction in one unit. */
const STATEMENTS_PER_UNIT = 4;
/** The most an operation is remembered to have cost is halved in this time. */
const HALF_LIFE_MS = 10_000;
const MOST_COSTS = 20_000;
/** The event loop counts as idle if it works for less than this part of the time. */
const MOST_IDLE_UTILIZATION = 0.5;
/** While something waits, it is sampled more often than this. */
const LONGEST_SAMPLE_MS = 1_000;
/** A shorter body is parsed before its request waits. */
const SMALL_BODY_BYTES = 64 * 1024;

type HookCallback = (failure?: Error) => void;

/** Remembers what the operations of each tenant have cost, so that the next request enters with that. */
export class CostMemory {
  private readonly costs = new Map<string, { units: number; at: number }>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** The highest recent cost, so that cheap requests between expensive ones change nothing. */
  expected(key: string): number {
    const cost = this.costs.get(key);
    return cost ? Math.min(CONTENDED_UNITS, Math.max(1, Math.round(this.decayed(cost)))) : UNKNOWN_UNITS;
  }

  note(key: string, units: number): void {
    const known = this.costs.get(key);
    // The oldest use is first, and forgotten first.
    if (known) this.costs.delete(key);
    else if (this.costs.size >= MOST_COSTS) this.costs.delete(this.costs.keys().next().value as string);
    this.costs.set(key, { units: known ? Math.max(units, this.decayed(known)) : units, at: this.now() });
  }

  private decayed({ units, at }: { units: number; at: number }): number {
    return units * 2 ** ((at - this.now()) / HALF_LIFE_MS);
  }
}

/**
 * Divides the event loop of a process between tenants: a request of a tenant waits here, after the guard and before its
 * handler, if the tenant has enough in progress. Tokens, console and streams of a tenant share its part.
 * A request costs what it makes the process do: bytes of its body and its answer, bytes from Postgres, and statements.
 * Its time does not count, because that also grows when others are busy.
 */
export class RequestShares {
  private readonly costs = new CostMemory();
  private readonly shares: FairShare;
  private utilization = performance.eventLoopUtilization();
  private sampledAt = -Infinity;

  /** @param lendAfterMs see `ShareBounds.lend` */
  constructor(lendAfterMs = 500) {
    this.shares = new FairShare(
      {
        total: TOTAL_UNITS,
        alone: ALONE_UNITS,
        contended: CONTENDED_UNITS,
        isFirstFree: true,
        // A change is a dozen round trips to Postgres, and would wait for a page of another tenant at each.
        yieldMs: 40,
        mostWaiting: 2_000,
        waitMs: 20_000,
        // For requests that wait for a client's upload, for another process, or for a lock.
        lend: { afterMs: lendAfterMs, atLatestMs: 10 * lendAfterMs, isIdle: () => this.isLoopIdle() },
      },
      () =>
        errors.unavailable({
          message: 'Too many requests of this tenant are in progress.',
          remediation: 'Send fewer requests at a time, and retry after the time given in Retry-After.',
        }),
    );
  }

  addHooks(instance: FastifyInstance): void {
    instance.addHook('onRequest', (request, reply, done) => {
      reply.raw.once('close', () => {
        // A use in progress continues: a client that leaves early must not start more work than one that stays.
        const { share } = (request as SlipwayRequest).slipway;
        if (share?.isWaiting) share.end();
      });
      done();
    });
    instance.addHook('preHandler', (request, _reply, done) => this.enter(request as SlipwayRequest, 0, done));
    instance.addHook('onSend', (request, _reply, payload, done) => {
      this.leave(request as SlipwayRequest, payload);
      done(null, payload);
    });
  }

  /** Whether the event loop was idle for most of the time since the previous call. */
  private isLoopIdle(): boolean {
    const { utilization: before, sampledAt } = this;
    this.utilization = performance.eventLoopUtilization();
    this.sampledAt = performance.now();
    // Nothing waited in between, and an idle minute says nothing about this moment.
    if (this.sampledAt - sampledAt > LONGEST_SAMPLE_MS) return false;
    return performance.eventLoopUtilization(this.utilization, before).utilization < MOST_IDLE_UTILIZATION;
  }

  /** Calls `parse` when a body of this length may be parsed. */
  beforeParse(request: FastifyRequest, bytes: number, done: HookCallback): void {
    if (bytes <= SMALL_BODY_BYTES) done();
    else this.enter(request as SlipwayRequest, bytes, done);
  }

  private enter(request: SlipwayRequest, bodyBytes: number, done: HookCallback): void {
    const context = request.slipway;
    const { route, tenantId } = context;
    if (!route || tenantId === undefined || context.share) return done();
    context.changedResource = changedResource(request, route, tenantId);
    // A streamed body arrives while its handler runs, in small parts.
    if (isStream(request.body)) return done();
    context.inShare = (work) => this.shares.run(tenantId, CONTENDED_UNITS, work);
    context.spentUnits = bodyBytes / BYTES_PER_UNIT;
    const units = Math.min(
      CONTENDED_UNITS,
      this.costs.expected(costKey(tenantId, route)) + Math.round(context.spentUnits),
    );
    try {
      context.share = this.shares.enter(tenantId, units);
    } catch (refusal) {
      return done(refusal as Error);
    }
    if (!context.share.isWaiting) return done();
    context.share.onBegin = () => runInRequest(context, done);
    context.share.onRefused = (refusal) => runInRequest(context, () => done(refusal));
  }

  private leave({ slipway: context }: SlipwayRequest, payload: unknown): void {
    // A request with a malformed path has no context.
    const { share, route, tenantId, spentUnits = 0 } = context ?? {};
    if (!share || !route || tenantId === undefined || share.state === 'ended') return;
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
    const units = 1 + bytes / BYTES_PER_UNIT + spentUnits;
    this.costs.note(costKey(tenantId, route), units);
    share.end();
  }
}

/** Adds what a database connection did for a request. */
export function noteConnectionUse(context: RequestContext, bytes: number, statements: number): void {
  context.spentUnits = (context.spentUnits ?? 0) + bytes / BYTES_PER_UNIT + statements / STATEMENTS_PER_UNIT;
}

/**
 * Takes over the reply of a request whose answer stays open. Its share ends here; each further large part of the answer
 * waits for the share again (`inShare`).
 */
export function keepOpen(reply: FastifyReply): RequestContext['inShare'] {
  const context = (reply.request as SlipwayRequest | undefined)?.slipway;
  reply.hijack();
  context?.share?.end();
  return context?.inShare;
}

function costKey(tenantId: string, { operationId }: RouteSpec): string {
  return `${tenantId} ${operationId}`;
}

/** Changes of `/deployments/chat` and of everything under it lock the same rows. */
function changedResource({ method, params }: SlipwayRequest, route: RouteSpec, tenantId: string): string | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const template = fullPathOf(route);
  const at = template.indexOf('/:');
  if (at < 0) return undefined;
  const [name] = template.slice(at + 2).split('/', 1);
  const value = params[name as string];
  return value === undefined ? undefined : `${tenantId}${template.slice(0, at)}/${value}`;
}

function isStream(body: unknown): boolean {
  return typeof (body as { pipe?: unknown } | null | undefined)?.pipe === 'function';
}
