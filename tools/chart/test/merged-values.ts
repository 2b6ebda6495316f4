import path from 'node:path';
import { CHART, mergedValues, readYaml, type Bag } from '../src/chart.js';

/** The values that the chart receives: its defaults, overridden by an example and then by changes. */
export function valuesOf(exampleFile: string, changes: Bag = {}): Bag {
  const defaults = readYaml(path.join(CHART, 'values.yaml'));
  return mergedValues(mergedValues(defaults, readYaml(exampleFile)), changes) as Bag;
}
