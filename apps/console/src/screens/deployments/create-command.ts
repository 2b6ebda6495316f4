import type { BodyOf } from '@slipway/sdk';
import { pairsText } from '../../ui/text/listed-text.js';
import { shellLine } from '../../ui/text/shell-line.js';

/** The same as a line of the CLI, which has a flag for each field. */
export function createDeploymentLine({ name = '', labels, ...others }: BodyOf<'createDeployment'>): string {
  const flags: [string, unknown][] = [...Object.entries(others), ['labels', pairsText(labels ?? {}) || undefined]];
  const words = flags.flatMap(([field, value]) => {
    if (value === undefined) return [];
    return [`--${field.replaceAll('_', '-')}`, typeof value === 'string' ? value : JSON.stringify(value)];
  });
  return shellLine('slipway', 'deployments', 'create', name, ...words);
}
