import type { Deployment } from '../../api/items.js';

/** A deployment with the word that people see for its state. */
export type ShownDeployment = Omit<Deployment, 'state'> & { state: string };

/** The list's fields of a deployment; the api's record has more. */
export interface DeploymentSummary {
  name: string;
  display_name: string | null;
  description: string | null;
  environment: string | null;
  state: string;
  labels: Record<string, string>;
}

/** The states in order of urgency. */
export const STATES = [
  'failed',
  'degraded',
  'paused',
  'progressing',
  'creating',
  'empty',
  'active',
  'deleting',
] as const;

export interface StateCount {
  state: string;
  count: number;
}

/** Counts the deployments in each state, including states of a later api; states without any are left out. */
export function countStates(rows: readonly Pick<DeploymentSummary, 'state'>[]): StateCount[] {
  const counts = new Map<string, number>(STATES.map((state) => [state, 0]));
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 0).map(([state, count]) => ({ state, count }));
}

/** Whether every word occurs in one of the deployment's names. */
export function isDeploymentMatch(row: DeploymentSummary, text: string): boolean {
  const labels = Object.entries(row.labels).map(([key, value]) => `${key}=${value}`);
  const all = [row.name, row.display_name, row.description, row.environment, ...labels].join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
