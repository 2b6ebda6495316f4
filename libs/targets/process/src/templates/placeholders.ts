import { MODEL_FIELDS } from '@slipway/target-driver';

/** What `{…}` may stand for in a command. `home` is the absolute SLIPWAY_HOME. */
export const PROCESS_PLACEHOLDERS: ReadonlySet<string> = new Set([
  'port',
  'home',
  'instance.dir',
  'instance_key',
  'gpu.indices',
  'gpu.count',
  ...MODEL_FIELDS.map((field) => `model.${field}`),
]);
