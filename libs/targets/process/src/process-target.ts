import { NAME, readAs, type MappingSchema, type TargetConfig } from '@slipway/platform-config';
import type { DriverHost, TargetKind } from '@slipway/target-driver';
import { readProcessEngine, readEngineDefaults } from './templates/engine-reader.js';
import { ENGINE_DEFAULTS, ENGINE_ENTRY } from './templates/engine-schema.js';
import { ProcessDriver, type ProcessTargetConfig } from './process-driver.js';

/**
 * Seconds from SIGTERM to SIGKILL. Stopping the whole stack waits 30 s for the worker, including its engines and
 * operations.
 */
const GRACE_SECONDS = 15;

const DEVICES: MappingSchema['properties'][string] = {
  anyOf: [
    { enum: ['auto', 'none'] },
    {
      type: 'array',
      minItems: 1,
      maxItems: 64,
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          index: { type: 'integer', minimum: 0, maximum: 1_023, description: 'Index in the order of the PCI bus' },
          uuid: {
            type: 'string',
            minLength: 1,
            description: 'Required if two targets share a host, so that both mean the same device',
          },
          memory_mb: { type: 'integer', minimum: 1, maximum: 67_108_864, description: 'MiB' },
        },
        required: ['index', 'memory_mb'],
      },
    },
  ],
  default: 'auto',
  description: 'Accelerators of the host: detected (auto), none, or this list',
};

const PROCESS: Pick<MappingSchema, 'properties' | 'required'> = {
  properties: {
    engines: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: NAME.source },
      additionalProperties: ENGINE_ENTRY,
      description: 'Programs that serve a model, by the name in runtime.engine of a revision',
    },
    engine_defaults: ENGINE_DEFAULTS,
    devices: DEVICES,
    start_parallelism_per_device: {
      type: 'integer',
      minimum: 1,
      maximum: 16,
      default: 1,
      description: 'Number of engines that may start on one device at the same time',
    },
  },
  required: ['engines'],
};

/** `kind: process` of the operator's file: engines that the worker starts as processes of its host. */
export const processTarget: TargetKind = {
  kind: 'process',
  schema: PROCESS,
  maxInstances: 16,
  read(reader, path, entry): Omit<ProcessTargetConfig, keyof TargetConfig> {
    const { devices, start_parallelism_per_device: parallelism } = entry;
    const engines = reader.map(`${path}.engines`, entry['engines']);
    if (Object.keys(engines).length === 0) reader.fail(`${path}.engines`, 'must name at least one engine');
    const defaults = readEngineDefaults(reader, `${path}.engine_defaults`, entry['engine_defaults']);
    const read = <T>(key: keyof typeof PROCESS.properties, value: T): T =>
      readAs(reader, `${path}.${key}`, value, PROCESS.properties[key]!) as T;
    return {
      engines: Object.fromEntries(
        Object.entries(engines).map(([name, value]) => [
          name,
          readProcessEngine(reader, `${path}.engines.${name}`, { name, value, defaults }),
        ]),
      ),
      ...(devices !== undefined && { devices: read('devices', devices) as ProcessTargetConfig['devices'] }),
      ...(parallelism !== undefined && {
        start_parallelism_per_device: read('start_parallelism_per_device', parallelism) as number,
      }),
    };
  },
  createDriver: (config: TargetConfig, { home, path, starts, secret, pausePoint }: DriverHost) =>
    new ProcessDriver(config as ProcessTargetConfig, {
      home,
      starts,
      secret,
      pausePoint,
      graceSeconds: GRACE_SECONDS,
      ...(path === undefined ? {} : { toolPath: path }),
    }),
};
