import path from 'node:path';
import { CHART, mergedValues, readYaml, type Bag } from '../src/chart.js';

/** What the chart gets to see: its defaults with an example over them, and changes over that. */
export function valuesOf(exampleFile: string, changes: Bag = {}): Bag {
  const defaults = readYaml(path.join(CHART, 'values.yaml'));
  return mergedValues(mergedValues(defaults, readYaml(exampleFile)), changes) as Bag;
}
