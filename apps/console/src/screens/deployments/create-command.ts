import type { BodyOf } from '@slipway/sdk';
import { shellLine } from '../../ui/shell-line.js';

/** The same as a line of the CLI, which has a flag for each field. */
export function createLine({ name = '', labels, ...others }: BodyOf<'createDeployment'>): string {
  const pairs = Object.entries(labels ?? {}).map((pair) => pair.join('='));
  const flags: [string, unknown][] = [...Object.entries(others), ['labels', pairs.join(',') || undefined]];
  const words = flags.flatMap(([field, value]) => {
    if (value === undefined) return [];
    return [`--${field.replaceAll('_', '-')}`, typeof value === 'string' ? value : JSON.stringify(value)];
  });
  return shellLine('slipway', 'deployments', 'create', name, ...words);
}
