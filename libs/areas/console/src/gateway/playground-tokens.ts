import { Injectable } from '@nestjs/common';
import { TokenService } from '@slipway/platform-http/auth';
import type { Principal } from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { LRUCache } from 'lru-cache';

const LIFETIME_MS = 60 * 60_000;
/** A token is not used in its last minutes, so that no answer outlives it. */
const CACHE_MS = LIFETIME_MS - 10 * 60_000;
const MAX_CACHED = 1_000;

/**
 * Tokens with which people of the identity provider call the gateway, which accepts only API tokens. Each is a token of
 * that person and grants no more than reading. Its text stays in this process: no browser and no table has it. The
 * session's own credential is checked before each use, so that a revoked person loses access at once. A person has one
 * for all sessions, and all of a person count together in the limits of the gateways.
 */
@Injectable()
export class PlaygroundTokens {
  private readonly cache = new LRUCache<string, Promise<string>>({ max: MAX_CACHED, ttl: CACHE_MS });

  constructor(
    private readonly mutations: Mutations,
    private readonly tokens: TokenService,
  ) {}

  /** Returns the token of this person in this tenant, and creates it if there is none. */
  of(who: Principal): Promise<string> {
    const key = keyOf(who);
    const known = this.cache.get(key);
    if (known) return known;
    const made = this.make(who);
    this.cache.set(key, made);
    // If the creation failed, the next request retries it.
    made.catch(() => this.cache.delete(key));
    return made;
  }

  /** Removes a token that was revoked: the next request creates another. */
  forget(who: Principal): void {
    this.cache.delete(keyOf(who));
  }

  private make(principal: Principal): Promise<string> {
    const { tenantId, actor, owner, minters } = principal;
    return this.mutations.run({ principal, locksAccess: true }, async (tx) => {
      const { row, text } = await this.tokens.create(tx, {
        tenantId,
        name: 'playground of the console',
        scopes: ['viewer'],
        expiresAt: new Date((await tx.now()).getTime() + LIFETIME_MS),
        createdBy: `${actor.type}:${actor.id}`,
        owner,
        minters,
        countsForOwner: true,
      });
      await appendAudit(tx, { action: 'token.create', resourceType: 'token', resourceName: row.id, after: row, actor });
      return text;
    });
  }
}

function keyOf({ tenantId, actor }: Principal): string {
  return `${tenantId} ${actor.type}:${actor.id}`;
}
