import { createHash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { resolveSecret, type OperatorConfig } from '@slipway/platform-config';
import { findPage, type Database, type RowPage } from '@slipway/platform-database';
import pLimit from 'p-limit';
import { MoreThan } from 'typeorm';
import type { BackendPublisher, PublishedWorkload } from './backend-publisher.js';
import { AccessRefused, SecretUnavailable } from '../access/tenant-access.js';
import { RepeatedCheck, TroubleLog } from '../catalog/repeated-check.js';
import type { Target } from '../catalog/target-catalog.js';
import type { TargetLeadership } from '../catalog/target-leadership.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';

/** Everything is compared with the published state this often, even if no file has changed. */
const COMPARE_MS = 30_000;
const AT_ONCE = 4;
const WORKLOADS_AT_ONCE = 500;

/** Key of the target's allowed addresses, next to the secrets. The space makes it a name that no secret can have. */
const ALLOW = ' allow';

/**
 * Publishes to the gateways a new value of an operator's secret, and a change of the addresses that a target allows.
 * The worker that leads the target checks the files, and publishes again each workload whose published values are
 * outdated. A worker that begins to lead compares everything, so it completes what its predecessor left undone. Engines
 * get their environment at their start and keep it.
 */
export class SecretWatch {
  private readonly logger = new Logger('secrets');
  private readonly trouble: TroubleLog;
  private readonly checks: RepeatedCheck;
  /**
   * Digests of the values that were current when all dependent workloads had been checked. Empty while another worker
   * leads.
   */
  private settled: ReadonlyMap<string, string> = new Map();
  private comparedAt = 0;

  constructor(
    private readonly target: Target,
    private readonly leadership: TargetLeadership,
    private readonly operator: OperatorConfig,
    private readonly database: Database,
    private readonly publisher: BackendPublisher,
    everyMs: number,
  ) {
    this.checks = new RepeatedCheck(() => this.look().catch((error: unknown) => this.trouble.tell(error)), everyMs);
    this.trouble = new TroubleLog(target, this.logger);
  }

  start(): void {
    this.checks.start();
  }

  stop(): Promise<void> {
    return this.checks.stop();
  }

  private async look(): Promise<void> {
    if (!this.leadership.leads) {
      this.settled = new Map();
      return;
    }
    const found = this.digests();
    const isCompare = performance.now() - this.comparedAt >= COMPARE_MS;
    const changed = [...found.keys()].filter((name) => found.get(name) !== this.settled.get(name));
    if (!isCompare && changed.length === 0) return;
    const comparedAt = performance.now();
    const isForAll = isCompare || changed.includes(ALLOW);
    await this.renew((name) => isForAll || changed.includes(name));
    this.settled = found;
    if (isCompare) this.comparedAt = comparedAt;
  }

  private async renew(isAffected: (secret: string) => boolean): Promise<void> {
    const limit = pLimit(AT_ONCE);
    let after: string | undefined = '';
    while (after !== undefined) {
      const { rows, hasMore } = await this.workloadsAfter(after);
      const affected = rows.filter(({ spec }) => spec.endpoint && isAffected(spec.endpoint.credential_ref ?? ''));
      await Promise.all(affected.map((workload) => limit(() => this.renewOne(workload))));
      after = hasMore ? rows[rows.length - 1]?.revision_id : undefined;
    }
  }

  private workloadsAfter(after: string): Promise<RowPage<WorkloadEntity>> {
    return this.database.tx('system', (tx) =>
      findPage(tx, WorkloadEntity, {
        where: { target: this.target.config.name, is_active: true, revision_id: MoreThan(after) },
        order: { revision_id: 'ASC' },
        key: 'revision_id',
        limit: WORKLOADS_AT_ONCE,
      }),
    );
  }

  /** If a secret is missing, as between two writes of its file, the gateways keep what they have. */
  private async renewOne(workload: PublishedWorkload): Promise<void> {
    try {
      if (await this.publisher.renew(workload))
        this.logger.log(
          `published a changed credential or changed addresses of ${workload.revision_name} to the gateways`,
        );
    } catch (error) {
      if (!(error instanceof SecretUnavailable || error instanceof AccessRefused)) throw error;
      this.trouble.tell(error);
    }
  }

  private digests(): Map<string, string> {
    const secrets = Object.keys(this.operator.secrets).map((name): [string, string] => [name, this.digest(name)]);
    return new Map([...secrets, [ALLOW, JSON.stringify(this.target.config.allow ?? null)]]);
  }

  private digest(name: string): string {
    try {
      return createHash('sha256').update(resolveSecret(this.operator, name)).digest('hex');
    } catch {
      return '';
    }
  }
}
