import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { OperationRunner, PausePoints } from '@slipway/platform-operations';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports';
import { TargetsModule } from '../src/index.js';

/** What the tests need of the Revisions area: names, and the news that a revision has retired. */
export class FakeRevisions implements Pick<RevisionsPort, 'getMany' | 'retired'> {
  readonly retirements: string[] = [];

  async getMany(_tx: unknown, ids: readonly string[]): Promise<Revision[]> {
    return ids.map((id) => ({ id, name: `chat-${id.slice(4)}` }) as Revision);
  }

  async retired(_tx: unknown, revisionId: string): Promise<void> {
    this.retirements.push(revisionId);
  }
}

@Global()
@Module({})
class Surroundings {}

/**
 * A process with this area alone: as a worker, which has something that runs operations and therefore reconciles, or as an API.
 */
@Module({})
export class AreaOnly {
  static of(config: Config, role: 'worker' | 'api'): DynamicModule {
    const runner = role === 'worker' ? [{ provide: OperationRunner, useValue: {} }] : [];
    const providers = [PausePoints, ...runner, { provide: REVISIONS, useClass: FakeRevisions }];
    const surroundings: DynamicModule = { module: Surroundings, providers, exports: providers };
    return {
      module: AreaOnly,
      imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config), surroundings, TargetsModule],
    };
  }
}
