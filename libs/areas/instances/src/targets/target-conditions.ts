import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import { In, IsNull, Not } from 'typeorm';
import type { Target } from '../catalog/target-catalog.js';
import type { TargetConditionDto } from './target.dto.js';
import { TargetHealthEntity } from '../catalog/target-health.entity.js';

/** It names servers, namespaces and rights of the operator's. */
const FOR_OTHERS = 'it cannot be worked with as it should be at the moment; its operator is told why';

/** What is wrong with targets as a whole, as far as the viewer may know. */
@Injectable()
export class TargetConditions {
  constructor(private readonly database: Database) {}

  async of(
    targets: readonly Target[],
    { isOperatorTenant }: Pick<Principal, 'isOperatorTenant'>,
  ): Promise<Map<string, TargetConditionDto[]>> {
    // A row may be of another kind of target that had the name.
    const names = targets.flatMap(({ config, driver }) => (driver.health ? [config.name] : []));
    const ill =
      names.length === 0
        ? []
        : await this.database.tx('system', (tx) =>
            tx.repository(TargetHealthEntity).findBy({ target: In(names), problem: Not(IsNull()) }),
          );
    return new Map(
      ill.map(({ target, problem }) => [
        target,
        [{ type: 'degraded', message: isOperatorTenant ? (problem ?? '') : FOR_OTHERS }],
      ]),
    );
  }
}
