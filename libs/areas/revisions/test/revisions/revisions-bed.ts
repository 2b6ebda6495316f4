import type { Tx } from '@slipway/platform-database';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { platformMigrations } from '@slipway/platform-durable/operations/testing';
import type { Deployment, DeploymentChange, DeploymentsPort } from '@slipway/ports/deployment-records';
import type { Revision } from '@slipway/ports/revisions';
import { migrations } from '../../src/revisions/index.js';
import { RevisionStore } from '../../src/revisions/revision.store.js';
import { newDeployment, RevisionHistory } from '../../src/testing/index.js';

/** The deployment records that the store needs. They live in memory, so that a test can read and change them. */
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

/** The store with its own database. */
export class RevisionsBed extends DatabaseBed {
  private readonly deployments = new Deployments();
  private readonly history = new RevisionHistory((text, values) => this.sql(text, values));
  readonly store = new RevisionStore(this.deployments as unknown as DeploymentsPort);

  static override async start(): Promise<RevisionsBed> {
    return new RevisionsBed(...(await DatabaseBed.open({ migrations: [...platformMigrations, ...migrations] })));
  }

  /** Returns the live object: it shows the changes that activations make. */
  deployment(): Deployment {
    count += 1;
    const deployment = newDeployment({ id: `dep_${count}`, name: `chat-${count}` });
    this.deployments.all.set(deployment.id, deployment);
    return deployment;
  }

  revision(deployment: Deployment, reference: string): Promise<Revision> {
    return this.database.tx('system', (tx) => this.store.find(tx, deployment.id, reference));
  }

  states(deployment: Deployment): Promise<string[]> {
    return this.history.states(deployment.id);
  }

  activations(deployment: Deployment): Promise<string[]> {
    return this.history.activations(deployment.id);
  }

  events(deployment: Deployment, type: string): Promise<any[]> {
    return this.history.events(deployment.id, type);
  }
}
