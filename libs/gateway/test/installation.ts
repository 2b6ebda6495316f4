import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { migrations as authMigrations } from '@slipway/platform-http/auth';
import { migrations as platformMigrations, newId, sealSecret } from '@slipway/platform-database';
import type { ProxyList } from '@slipway/platform-bounds';
import type { Scope } from '@slipway/platform-http';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { KeyRing } from '@slipway/platform-config';
import { guardedDispatcher } from '@slipway/platform-egress';
import {
  type BackendSleep,
  backendContext,
  migrations as dataplaneMigrations,
  publishBackend,
  publishRoute,
  type Affinity,
  type PublishedHold,
  type NamedSql,
  type QueryClient,
} from '@slipway/dataplane';
import { Gateway, type GatewaySettings } from '../src/index.js';
import type { Log } from '../src/log.js';
import type { TestUpstream } from './upstream.js';

export interface TestToken {
  id: string;
  tenantId: string;
  text: string;
}

/** A migrated database for one spec, with the writes of the control plane and the gateways in front of it. */
export class GatewayInstallation {
  readonly home = mkdtempSync(path.join(tmpdir(), 'slipway-gateway-'));
  readonly secretKey = randomBytes(32);
  readonly keyRing = new KeyRing(this.secretKey);
  readonly logged: string[] = [];
  private readonly gateways: Gateway[] = [];
  private generation = 0;

  private constructor(
    readonly database: TestDatabase,
    private readonly client: pg.Client,
    readonly db: QueryClient,
  ) {}

  static async create(): Promise<GatewayInstallation> {
    const database = await createTestDatabase([...platformMigrations, ...authMigrations, ...dataplaneMigrations]);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('set role slipway_system');
    const db: QueryClient = {
      query: async <R>(statement: NamedSql, values: unknown[] = []) =>
        (await client.query({ ...statement, values })).rows as R[],
    };
    return new GatewayInstallation(database, client, db);
  }

  /** Ends all gateways. A gateway that runs writes into its home, which can be removed only afterwards. */
  async closeGateways(): Promise<void> {
    for (const gateway of this.gateways.splice(0)) await gateway.close();
  }

  async destroy(): Promise<void> {
    await this.closeGateways();
    await this.client.end();
    await this.database.drop();
    rmSync(this.home, { recursive: true, force: true });
  }

  async gateway(
    settings: Partial<GatewaySettings> = {},
    options: {
      databaseUrl?: string;
      home?: string;
      metricsToken?: string;
      trustedProxies?: ProxyList;
      keyRing?: KeyRing;
    } = {},
  ): Promise<Gateway> {
    const log: Log = {
      info: (_fields, message) => this.logged.push(message),
      warn: (fields, message) => this.logged.push(`${message} ${JSON.stringify(fields)}`),
      error: (fields, message) => this.logged.push(`${message} ${JSON.stringify(fields)}`),
    };
    const gateway = new Gateway({
      databaseUrl: options.databaseUrl ?? this.database.gatewayUrl,
      home: options.home ?? this.home,
      host: '127.0.0.1',
      port: 0,
      keyRing: options.keyRing ?? this.keyRing,
      metricsToken: options.metricsToken,
      trustedProxies: options.trustedProxies,
      guardedDispatcher,
      settings: { drainMs: 2_000, ...settings },
      log,
    });
    await gateway.start();
    this.gateways.push(gateway);
    return gateway;
  }

  async sql<R = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.client.query(text, values)).rows as R[];
  }

  async tenant(name: string, isOperator = false): Promise<string> {
    const id = newId('ten');
    await this.sql('insert into tenants (id, name, is_operator) values ($1, $2, $3)', [id, name, isOperator]);
    return id;
  }

  async token(tenantId: string, expires = '1 hour', scopes: readonly Scope[] = ['viewer']): Promise<TestToken> {
    const id = newId('tok');
    const secret = randomBytes(32).toString('base64url');
    await this.sql(
      `insert into api_tokens (id, tenant_id, name, scopes, secret_sha256, created_by, owner_type, owner_id, minters, expires_at)
       values ($1, $2, 'test', $3, $4, 'system:test', 'person', 'test', '[]', now() + $5::interval)`,
      [id, tenantId, scopes, createHash('sha256').update(secret).digest(), expires],
    );
    return { id, tenantId, text: `slw_${id.slice('tok_'.length)}_${secret}` };
  }

  /** Publishes a revision with these instances. The revision's id is `rev_<name>`. */
  async revision(
    tenantId: string,
    deployment: string,
    name: string,
    upstreams: readonly TestUpstream[],
    credential?: string,
    asleep: BackendSleep | null = null,
  ): Promise<string> {
    const revisionId = `rev_${name}`;
    await publishBackend(this.db, {
      revisionId,
      revisionName: name,
      tenantId,
      deploymentId: `dep_${deployment}`,
      modelId: `model-of-${name}`,
      instances: upstreams.map((upstream) => ({
        id: `ins_${upstream.name}`,
        base_url: upstream.url,
        state: 'ready' as const,
      })),
      credential: credential === undefined ? null : this.sealedFor(tenantId, revisionId, credential),
      guard: null,
      asleep,
    });
    return revisionId;
  }

  /** Seals a revision's credential as the worker does. */
  sealedFor(tenantId: string, revisionId: string, credential: string): string {
    return sealSecret(this.keyRing, credential, backendContext(tenantId, revisionId));
  }

  /** Publishes the next generation of a route; weights by revision name. */
  async route(
    tenantId: string,
    deployment: string,
    weights: Record<string, number>,
    affinity: Affinity = { mode: 'soft', ttl_seconds: 600 },
    hold?: Omit<PublishedHold, 'since'>,
  ): Promise<number> {
    this.generation += 1;
    await publishRoute(this.db, {
      tenantId,
      deploymentId: `dep_${deployment}`,
      deploymentName: deployment,
      generation: this.generation,
      targets: Object.entries(weights).map(([name, weight]) => ({
        revisionId: `rev_${name}`,
        revisionName: name,
        weight,
      })),
      affinity,
      ...(hold && { hold }),
    });
    return this.generation;
  }
}

/** Repeats the check until it passes. Only the deadline makes it fail; a slow check does not. */
export async function untilPassing<T>(check: () => Promise<T> | T, withinMs = 45_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
