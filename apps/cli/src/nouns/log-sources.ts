import type { ItemOf, Slipway } from '@slipway/sdk';
import { CliError, EXIT } from '../exit-codes.js';

export type Instance = Pick<ItemOf<'listInstances'>, 'id' | 'revision' | 'state' | 'ordinal' | 'started_at'>;

interface Choice {
  /** A revision by its name, its number or its id. */
  revision?: string;
  isAll?: boolean;
}

/** Whose output a person most likely wants, first. */
const STATES = ['ready', 'unhealthy', 'starting', 'stopping', 'exited'];

const rankOf = ({ state }: Instance): number => {
  const rank = STATES.indexOf(state);
  return rank === -1 ? STATES.length : rank;
};

/**
 * The instances whose output is shown: the one that serves, or all. An instance serves if it is ready and its revision
 * has the most traffic. If none does, the last one that started is shown, because it tells why.
 */
export async function logSources(client: Slipway, deployment: string, choice: Choice): Promise<Instance[]> {
  const { revision, isAll = false } = choice;
  const [name, all] = await Promise.all([
    revision === undefined ? undefined : nameOf(client, deployment, revision),
    instancesOf(client, deployment),
  ]);
  const found = name === undefined ? all : all.filter((one) => one.revision === name);
  if (found.length === 0)
    throw new CliError(
      `${name === undefined ? `The deployment ${deployment}` : `The revision ${name}`} has no instances.`,
      EXIT.notFound,
      `Run slipway deployments get ${deployment} to see its last failed start.`,
    );
  const weights = isAll || found.length === 1 ? new Map<string, number>() : await weightsOf(client, deployment);
  const sorted = found.sort((one, other) => compare(one, other, weights));
  return isAll ? sorted : sorted.slice(0, 1);
}

function compare(one: Instance, other: Instance, weights: ReadonlyMap<string, number>): number {
  const weight = ({ revision }: Instance) => weights.get(revision) ?? 0;
  const startedAt = ({ started_at }: Instance) => (started_at ? Date.parse(started_at) : 0);
  const isServing = (instance: Instance) => (instance.state === 'ready' ? weight(instance) : 0);
  return (
    isServing(other) - isServing(one) ||
    rankOf(one) - rankOf(other) ||
    startedAt(other) - startedAt(one) ||
    one.ordinal - other.ordinal
  );
}

async function instancesOf(client: Slipway, deployment: string): Promise<Instance[]> {
  const instances: Instance[] = [];
  for await (const one of client.deployments.instances.list(deployment)) instances.push(one);
  return instances;
}

async function nameOf(client: Slipway, deployment: string, revision: string): Promise<string> {
  return (await client.deployments.revisions.get(deployment, revision)).name;
}

/** The shares of the traffic by revision. A deployment without a route has none. */
async function weightsOf(client: Slipway, deployment: string): Promise<Map<string, number>> {
  const { route } = await client.deployments.get(deployment);
  return new Map((route?.targets ?? []).map(({ revision, weight }) => [revision, weight]));
}
