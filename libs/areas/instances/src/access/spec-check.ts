import { endpointUrlField, endpointUrls, type RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { tenantName } from '@slipway/platform-http/auth';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import type { SpecIssue } from '@slipway/ports/instances';
import { DeviceAssignments } from '../devices/device-assignments.js';
import { secretIssues } from './secrets.js';
import { anothers, driverIssues, replicasOn } from './spec-issues.js';
import { StartedInstances } from './started-instances.js';
import { TargetCatalog } from '../catalog/target-catalog.js';
import { unknownTarget } from './unknown-target.js';

/** Every reason why a spec cannot run for a tenant on the configured targets. */
@Injectable()
export class SpecCheck {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly catalog: TargetCatalog,
    private readonly started: StartedInstances,
    private readonly devices: DeviceAssignments,
  ) {}

  async of(tx: Tx, tenantId: string, spec: RevisionSpec): Promise<SpecIssue[]> {
    const name = await tenantName(tx, tenantId);
    const targets = this.catalog.of(name);
    const target = targets.find(({ config }) => config.name === spec.runtime.target);
    if (!target) return [unknownTarget(this.catalog, name, spec.runtime.target)];
    const issues = driverIssues(target.driver, name, spec);
    for (const [ordinal, url] of endpointUrls(spec.endpoint).entries()) {
      if (!target.driver.adopts || !(await this.started.isAnothers(tx, tenantId, url))) continue;
      const field = endpointUrlField(spec.endpoint, ordinal);
      issues.push({ field, code: 'not_allowed', message: anothers(target, name) });
    }
    const { max_instances: max } = target.config;
    if (target.driver.adopts && spec.scaling.min_replicas === 0) {
      issues.push({
        field: 'scaling.min_replicas',
        code: 'not_allowed',
        message: `target "${target.config.name}" adopts servers, which it can neither stop nor start`,
      });
    }
    if (max !== undefined && replicasOn(target, spec) > max) {
      issues.push({
        field: target.driver.adopts ? 'endpoint.base_urls' : 'scaling.min_replicas',
        code: 'not_allowed',
        message: `target "${target.config.name}" runs at most ${max} instances`,
      });
    }
    issues.push(...(await this.devices.issues(tx, target, spec, replicasOn(target, spec))));
    return [...issues, ...secretIssues(this.config.operator, name, spec, target.driver.secrets)];
  }
}
