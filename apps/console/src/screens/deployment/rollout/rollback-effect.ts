import type { TrafficShare } from '../traffic.js';
import { numberText } from '../../../ui/text/number-text.js';
import type { OperationRehearsal } from './rehearsed-dialog.js';

/** The parts that a rollback changes, each in one line. */
export interface RollbackEffect {
  revision: string;
  traffic: string[];
  instances: string;
}

type RollbackRehearsal = Pick<OperationRehearsal, 'revision' | 'ready_instances' | 'capacity'>;

/** Undefined if the api does not report the target. @param shares the current route */
export function rollbackEffect(
  { revision, ready_instances: ready, capacity }: RollbackRehearsal,
  active: string | null,
  shares: readonly TrafficShare[],
): RollbackEffect | undefined {
  if (revision === undefined) return undefined;
  const now = new Map(shares.filter(({ weight }) => weight > 0).map((one) => [one.revision, one.weight]));
  const others = [...now.keys()].filter((name) => name !== revision);
  return {
    revision: active === revision ? `${revision} stays active` : `${active ?? 'none'} → ${revision}`,
    traffic: [...others, revision].map((name) => shareText(name, now.get(name) ?? 0, name === revision ? 100 : 0)),
    instances: instancesText(ready ?? 0, capacity?.needed),
  };
}

const shareText = (name: string, from: number, to: number): string =>
  from === to ? `${name} keeps ${numberText(to)} %` : `${name} ${numberText(from)} % → ${numberText(to)} %`;

function instancesText(ready: number, needed: number | undefined): string {
  if (ready > 0) return `${ready} ready: the traffic moves immediately.`;
  const count = needed === undefined ? '' : ` (${needed} needed)`;
  return `None ready: instances must start${count} before the traffic moves.`;
}
