import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { migrations as auth } from '@slipway/platform-http/auth';
import { ConfigModule, loadConfig, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { appendAudit } from '@slipway/platform-durable/mutations';
import { platformMigrations } from '@slipway/platform-durable/operations/testing';
import { AuditAnchoring } from '../src/audit-anchoring.js';
import { canonicalHash } from './rewriting.js';
import { AuditSealer } from '../src/audit-sealer.js';
import { migrations } from '../src/index.js';

export const TENANT = 'ten_one';
export const OTHER = 'ten_two';
export const SECRET_KEY = Buffer.alloc(32, 1);

/** The workers of the audit on a database of their own, and the administrator of that database. */
export class AuditBed {
  private constructor(
    readonly config: Config,
    readonly db: Database,
    /** The owner of the schema: no code of Slipway has this role, but an intruder may. */
    readonly owner: pg.Client,
    private readonly context: INestApplicationContext,
    private readonly testDatabase: TestDatabase,
  ) {}

  static async start(): Promise<AuditBed> {
    const testDatabase = await createTestDatabase([...platformMigrations, ...auth, ...migrations]);
    const config = loadConfig(
      { NODE_ENV: 'test', DATABASE_URL: testDatabase.url, SLIPWAY_SECRET_KEY: SECRET_KEY.toString('base64') },
      '/',
    );
    @Module({ imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config)] })
    class TestModule {}
    const context = await NestFactory.createApplicationContext(TestModule, { logger: false });
    const owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
    await owner.connect();
    for (const id of [TENANT, OTHER])
      await owner.query(`insert into tenants (id, name) values ($1, $1 || '-name')`, [id]);
    return new AuditBed(config, context.get(Database, { strict: false }), owner, context, testDatabase);
  }

  async stop(): Promise<void> {
    await this.owner.end();
    await this.context.close();
    await this.testDatabase.drop();
  }

  async empty(): Promise<void> {
    await this.owner.query('truncate audit_log, audit_heads, audit_anchors');
    await this.owner.query(`alter table audit_log drop constraint if exists audit_log_hash_with_seal,
      add constraint audit_log_hash_with_seal check (hash is null or seal is not null) not valid`);
  }

  async append(...names: string[]): Promise<void> {
    for (const resourceName of names)
      await this.db.tx({ tenantId: TENANT }, (tx) =>
        appendAudit(tx, {
          action: 'thing.set',
          resourceType: 'thing',
          resourceName,
          actor: { type: 'token', id: 't' },
        }),
      );
  }

  /** Returns a worker's sealer: one object plays one process. */
  sealer(keyRing = this.config.keyRing): () => Promise<void> {
    const sealer = new AuditSealer({ keyRing });
    return () => sealer.run((scope, work) => this.db.tx(scope, work));
  }

  /** Returns a worker's anchoring. */
  anchoring(anchor: string, more: Partial<Config> = {}): () => Promise<void> {
    const work = new AuditAnchoring({ ...this.config, ...more, audit: { anchor } });
    return () => work.run((scope, fn) => this.db.tx(scope, fn));
  }

  aMinutePasses() {
    return this.owner.query(`update audit_anchors set due_at = due_at - interval '1 minute'`);
  }

  async head(): Promise<{ sequence: number; hash: string }> {
    const { rows } = await this.owner.query(
      `select sequence::int as sequence, hash from audit_heads where tenant_id = $1`,
      [TENANT],
    );
    return rows[0];
  }

  /**
   * Makes every row and the head consistent after a change, as an intruder can who has the database but not the key.
   */
  async rehash({ from = 1, without = false } = {}): Promise<void> {
    const { rows } = await this.owner.query(
      `select a.*, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, sequence::int as sequence
       from audit_log a where tenant_id = $1 order by a.sequence`,
      [TENANT],
    );
    if (without) await this.owner.query(`alter table audit_log drop constraint if exists audit_log_hash_with_seal`);
    let previous = '0'.repeat(64);
    for (const row of rows) {
      const hash = canonicalHash(previous, row);
      await this.owner.query(
        `update audit_log set previous_hash = $2, hash = $3, key_id = case when $4 then null else key_id end, seal = case when $4 then null else seal end
         where id = $1`,
        [row.id, previous, hash, without && row.sequence >= from],
      );
      previous = hash;
    }
    await this.owner.query(`update audit_heads set sequence = $2, hash = $3 where tenant_id = $1`, [
      TENANT,
      rows.length,
      previous,
    ]);
  }
}
