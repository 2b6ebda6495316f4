import { Logger } from '@nestjs/common';
import { noteEnginePeaks } from '@slipway/dataplane';
import type { Database } from '@slipway/platform-database';
import pLimit from 'p-limit';
import type { EngineKeys } from '../access/engine-keys.js';
import type { InstanceRow } from '../workloads/instance.query.js';
import { placeholderSecrets, toInstanceSpec, type Target } from '../catalog/target-catalog.js';
import { READ_LOAD_SOURCES, RECORD_ENGINE_LOADS } from './scaling.query.js';
import { RepeatedCheck, TroubleLog } from '../catalog/repeated-check.js';
import type { TargetLeadership } from '../catalog/target-leadership.js';
import type { WorkloadEntity } from '../workloads/workload.entity.js';

const AT_ONCE = 8;

type LoadSource = Pick<InstanceRow, 'id' | 'generation' | 'key_id'> &
  Pick<WorkloadEntity, 'revision_id' | 'tenant_id' | 'spec'> & { base_url: string };

/**
 * Requests from the engines of a target how much work waits in them, for the scaler and for records. The worker that
 * leads the target does this, concurrently with the passes of the reconciler.
 */
export class LoadWatch {
  private readonly trouble: TroubleLog;
  private readonly checks: RepeatedCheck;

  constructor(
    private readonly target: Target,
    private readonly leadership: TargetLeadership,
    private readonly database: Database,
    private readonly keys: Pick<EngineKeys, 'of'>,
    everyMs: number,
  ) {
    this.checks = new RepeatedCheck(() => this.trouble.during(this.look()), everyMs);
    this.trouble = new TroubleLog(target, new Logger('scaling'));
  }

  start(): void {
    if (this.target.driver.load) this.checks.start();
  }

  stop(): Promise<void> {
    return this.checks.stop();
  }

  /** Runs one round, with one request to each engine. */
  async look(): Promise<void> {
    if (!this.leadership.leads) return;
    const asked = await this.database.read<LoadSource>('system', READ_LOAD_SOURCES, [this.target.config.name]);
    const withLimit = pLimit(AT_ONCE);
    const told = await Promise.all(asked.map((one) => withLimit(() => this.ask(one))));
    const loads = told.filter((load) => load !== undefined);
    if (loads.length > 0)
      await this.database.tx('system', async (tx) => {
        await tx.query(RECORD_ENGINE_LOADS, [JSON.stringify(loads)]);
        await noteEnginePeaks(tx, loads);
      });
  }

  private async ask({ id, generation, key_id, base_url, revision_id, tenant_id, spec }: LoadSource) {
    const about = { id, generation, tenantName: '' };
    const asked = { ...toInstanceSpec(spec, about, placeholderSecrets), ...this.keys.of({ id, generation, key_id }) };
    const load = await this.target.driver.load?.(asked, base_url);
    return load && { instance_id: id, revision_id, tenant_id, waiting: load.waiting, kv_usage: load.kvUsage };
  }
}
