/** The facts of a deployment that decide the word for its state. A partial answer of a client may lack some. */
export interface DeploymentFacts {
  state: string;
  active_revision?: string | null;
  candidate_revision?: string | null;
  previous_revision?: string | null;
  current_operation_id?: string | null;
}

/**
 * Returns the state of a deployment as people see it. The api calls a deployment `creating` until it serves for the
 * first time, also while nothing is being created: then it is `empty`.
 */
export function shownDeploymentState(deployment: DeploymentFacts): string {
  const { state, active_revision, candidate_revision, previous_revision, current_operation_id } = deployment;
  const hasNothing = !active_revision && !candidate_revision && !previous_revision && !current_operation_id;
  return state === 'creating' && hasNothing ? 'empty' : state;
}

/** Whether a change of a deployment in this environment is confirmed by typing its name. */
export const isProduction = (environment: string | null | undefined): boolean =>
  /^prod(uction)?$/i.test(environment ?? '');
