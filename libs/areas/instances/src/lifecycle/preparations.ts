import type { Database } from '@slipway/platform-database';
import { InvalidSpecError, type StartPreparation, type TargetDriver } from '@slipway/target-driver';
import { placeholderSecrets, toInstanceSpec } from '../catalog/target-catalog.js';
import { PreparationEntity } from './preparation.entity.js';
import { READ_OPEN_PREPARATIONS, type OpenPreparation } from './preparation.query.js';

/**
 * Checks on a target's host what operations request before they stop anything. If a check ends with its worker, the
 * next worker repeats it. A result is written once, and only for the request that it belongs to.
 */
export class Preparations {
  constructor(
    private readonly driver: TargetDriver,
    private readonly database: Database,
  ) {}

  async look(): Promise<void> {
    if (!this.driver.prepare) return;
    const open = await this.database.read<OpenPreparation>('system', READ_OPEN_PREPARATIONS, [this.driver.name]);
    await Promise.all(open.map((one) => this.lookAt(one)));
  }

  private async lookAt(wish: OpenPreparation): Promise<void> {
    const { operation_id, revision_id, tenant_id, attempt } = wish;
    const found = await this.found(wish);
    await this.database.tx('system', (tx) =>
      tx
        .repository(PreparationEntity)
        .update(
          { operation_id, revision_id, tenant_id, attempt },
          {
            state: found.state,
            progress: found.state === 'running' ? found.progress : null,
            failure: found.state === 'failed' ? found.failure : null,
          },
        ),
    );
  }

  private async found({
    operation_id,
    revision_id,
    tenant_name,
    spec,
    attempt,
  }: OpenPreparation): Promise<StartPreparation> {
    const about = { id: `${operation_id}-${revision_id}-${attempt}`, generation: 1, tenantName: tenant_name };
    try {
      return await this.driver.prepare!(toInstanceSpec(spec, about, placeholderSecrets));
    } catch (error) {
      if (!(error instanceof InvalidSpecError)) throw error;
      const remediation = 'Fix the problem that the message describes.';
      const none = { exit_code: null, signal: null, log_tail: [] };
      return { state: 'failed', failure: { cause: 'config_error', remediation, line: error.message, ...none } };
    }
  }
}
