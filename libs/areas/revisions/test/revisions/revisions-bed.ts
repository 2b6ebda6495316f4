import type { Tx } from '@slipway/platform-database';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { platformMigrations } from '@slipway/platform-durable/operations/testing';
import type { Deployment, DeploymentChange, DeploymentsPort } from '@slipway/ports/deployment-records';
import type { Revision } from '@slipway/ports/revisions';
import { migrations } from '../../src/revisions/index.js';
import { RevisionStore } from '../../src/revisions/revision.store.js';

/** What the store needs of the records below it. They live in memory, so that a test can look at and change them. */
class Deployments implements Pick<DeploymentsPort, 'lockById' | 'update'> {
  readonly all = new Map<string, Deployment>();

  async lockById(_tx: Tx, id: string): Promise<Deployment | undefined> {
    const found = this.all.get(id);
    return found && { ...found };
  }

  async update(_tx: Tx, id: string, change: DeploymentChange): Promise<void> {
    Object.assign(this.all.get(id) as Deployment, change);
  }
}

let count = 0;

/** The store with a database of its own. */
export class RevisionsBed extends DatabaseBed {
  private readonly deployments = new Deployments();
  readonly store = new RevisionStore(this.deployments as unknown as DeploymentsPort);

  static override async start(): Promise<RevisionsBed> {
    return new RevisionsBed(...(await DatabaseBed.open({ migrations: [...platformMigrations, ...migrations] })));
  }

  /** Its object is the live one: it shows what activations make of it. */
  deployment(): Deployment {
    count += 1;
    const deployment: Deployment = {
      id: `dep_${count}`,
      tenantId: 'ten_a',
      name: `chat-${count}`,
      state: 'creating',
      defaultStrategy: null,
      defaultAnalysis: null,
      revisionHistoryLimit: 10,
      protection: { deletion: false, rollouts: 'any' },
      scaling: null,
      activeRevisionId: null,
      candidateRevisionId: null,
      previousRevisionId: null,
      currentOperationId: null,
      version: 1,
    };
    this.deployments.all.set(deployment.id, deployment);
    return deployment;
  }

  revision(deployment: Deployment, reference: string): Promise<Revision> {
    return this.database.tx('system', (tx) => this.store.find(tx, deployment.id, reference));
  }

  async states(deployment: Deployment): Promise<string[]> {
    const rows = await this.sql<{ state: string }>(
      'select state from revisions where deployment_id = $1 order by number',
      [deployment.id],
    );
    return rows.map(({ state }) => state);
  }

  /** Names of the revisions that held all traffic, in order; one that a rollback left is marked. */
  async activations(deployment: Deployment): Promise<string[]> {
    const rows = await this.sql<{ name: string }>(
      `select r.number || case when a.is_left_by_rollback then ' left' else '' end as name
       from revision_activations a join revisions r on r.id = a.revision_id where a.deployment_id = $1 order by a.id`,
      [deployment.id],
    );
    return rows.map(({ name }) => name);
  }

  async events(deployment: Deployment, type: string): Promise<any[]> {
    const rows = await this.sql<{ data: unknown }>(
      'select data from events where stream = $1 and type = $2 order by sequence',
      [`deployment/${deployment.id}`, type],
    );
    return rows.map(({ data }) => data);
  }
}
