import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { EventsModule, migrations as eventMigrations } from '../../src/events/index.js';
import { migrations as mutationMigrations, MutationsModule } from '../../src/mutations/index.js';
import { SchedulingModule } from '../../src/scheduling/index.js';
import { testPrincipal } from '../../src/operations/testing/index.js';
import {
  migrations,
  DurableOperationsModule,
  OperationStore,
  type OperationDefinition,
} from '../../src/operations/index.js';

export const TENANT = newId('ten');
export const ACTOR = { type: 'token', id: 'test' } as const;
export const PRINCIPAL = { ...testPrincipal(TENANT), actor: ACTOR };

export const PROBE: OperationDefinition = { kind: 'probe', steps: ['only'], unwind: {} };

/** The parts of this library on a database of their own. Nothing runs by itself, because there is no worker. */
export class OperationsBed extends DatabaseBed {
  readonly store = this.module.get(OperationStore);

  static override async start(): Promise<OperationsBed> {
    return new OperationsBed(
      ...(await DatabaseBed.open({
        migrations: [...databaseMigrations, ...eventMigrations, ...mutationMigrations, ...migrations],
        imports: [SchedulingModule.forApi(), EventsModule.forApi(), MutationsModule, DurableOperationsModule.forApi()],
      })),
    );
  }

  /** Accepts an operation, which puts its first wake-up into the outbox. */
  begin(): Promise<string> {
    return this.database.tx({ tenantId: TENANT }, async (tx) => {
      const claim = { operation: PROBE, resourceType: 'thing', resourceName: 'thing', requestedBy: ACTOR };
      const { id } = await this.store.claim(tx, claim);
      const stream = `operation/${id}`;
      await this.store.start(tx, { id, operation: PROBE, resourceId: 'thing', stream, input: {}, steps: ['only'] });
      return id;
    });
  }

  outbox(): Promise<{ id: string; dispatch: number }[]> {
    return this.sql('select operation_id as id, dispatch from outbox order by outbox.id');
  }
}
