import type { Revision } from '../../../api/items.js';

const SERVING: readonly Revision['state'][] = ['ready', 'active', 'standby'];

/** Whether a revision may get a share, or a larger one; the api decides finally. */
export const canServe = ({ state }: Pick<Revision, 'state'>): boolean => SERVING.includes(state);

/** Returns why the weights of a route are refused; undefined if they may be sent. */
export function weightsFault(targets: readonly { revision?: string; weight?: unknown }[]): string | undefined {
  const names = targets.map(({ revision }) => revision).filter((name) => name !== undefined);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) return `${twice} is named twice.`;
  const sum = targets.reduce((all, { weight }) => all + (Number(weight) || 0), 0);
  return sum === 100 ? undefined : `The weights sum to ${sum} %. They must sum to 100 %.`;
}
