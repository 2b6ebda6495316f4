import type { Deployment } from '@slipway/ports/deployment-records';

/** Runs a statement as the system. */
type RunStatement = <R extends object>(text: string, values: unknown[]) => Promise<R[]>;

/** Returns the record of a deployment without any rollout. */
export function newDeployment(fields: Pick<Deployment, 'id' | 'name'> & Partial<Deployment>): Deployment {
  return {
    tenantId: 'ten_a',
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
    ...fields,
  };
}

/** The revisions of a deployment in the database, for tests of every area that changes them. */
export class RevisionHistory {
  constructor(private readonly run: RunStatement) {}

  /** States of all revisions, oldest first. */
  async states(deploymentId: string): Promise<string[]> {
    const rows = await this.run<{ state: string }>(
      'select state from revisions where deployment_id = $1 order by number',
      [deploymentId],
    );
    return rows.map(({ state }) => state);
  }

  /** Numbers of the revisions that held all traffic, in order. One that a rollback left is marked. */
  async activations(deploymentId: string): Promise<string[]> {
    const rows = await this.run<{ name: string }>(
      `select r.number || case when a.is_left_by_rollback then ' left' else '' end as name
       from revision_activations a join revisions r on r.id = a.revision_id where a.deployment_id = $1 order by a.id`,
      [deploymentId],
    );
    return rows.map(({ name }) => name);
  }

  /** The data of all events of a type, in order. */
  async events(deploymentId: string, type: string): Promise<any[]> {
    const rows = await this.run<{ data: unknown }>(
      'select data from events where stream = $1 and type = $2 order by sequence',
      [`deployment/${deploymentId}`, type],
    );
    return rows.map(({ data }) => data);
  }
}
