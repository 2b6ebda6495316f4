import { ENV_NAME, NAME, type ConfigReader, type TargetConfig } from '@slipway/platform-config';
import type { DriverHost, TargetKind } from '@slipway/target-driver';
import { KNOWN_PLACEHOLDERS, type EngineConfig } from './engine-template.js';
import { ProcessDriver, type ProcessTargetConfig } from './process-driver.js';

const ARG_NAME = /^[a-z][a-z0-9_]{0,62}$/;
/** From SIGTERM to SIGKILL. Whoever stops the whole stack waits 30 s for its worker, engines and operations included. */
const GRACE_SECONDS = 15;

/** `kind: process` of the operator's file: engines that the worker starts as processes of its host. */
export const processTarget: TargetKind = {
  kind: 'process',
  keys: ['engines'],
  maxInstances: 16,
  read(reader, path, entry): Pick<ProcessTargetConfig, 'engines'> {
    const engines = reader.map(`${path}.engines`, entry['engines']);
    if (Object.keys(engines).length === 0) reader.fail(`${path}.engines`, 'must name at least one engine');
    return {
      engines: Object.fromEntries(
        Object.entries(engines).map(([name, value]) => [
          name,
          readEngine(reader, `${path}.engines.${name}`, name, value),
        ]),
      ),
    };
  },
  createDriver: (config: TargetConfig, { home, pausePoint }: DriverHost) =>
    new ProcessDriver(config as ProcessTargetConfig, { home, pausePoint, graceSeconds: GRACE_SECONDS }),
};

function readEngine(reader: ConfigReader, path: string, name: string, value: unknown): Required<EngineConfig> {
  if (!NAME.test(name)) reader.fail(path, `is not a valid engine name (${NAME.source})`);
  const entry = reader.map(path, value, ['command', 'args', 'env_allow', 'ready']);
  const { args = {}, env_allow: allowed = [], ready = {} } = entry;
  const command = reader
    .list(`${path}.command`, entry['command'])
    .map((part, index) => readCommandPart(reader, `${path}.command[${index}]`, part));
  if (command.length === 0) reader.fail(`${path}.command`, 'must name a program');
  return {
    command,
    args: Object.fromEntries(
      Object.entries(reader.map(`${path}.args`, args)).map(([arg, template]) => [
        arg,
        readArgument(reader, `${path}.args.${arg}`, arg, template),
      ]),
    ),
    env_allow: reader
      .list(`${path}.env_allow`, allowed)
      .map((one, index) => reader.string(`${path}.env_allow[${index}]`, one, ENV_NAME)),
    ready: readReady(reader, `${path}.ready`, ready),
  };
}

function readReady(reader: ConfigReader, path: string, value: unknown): Required<EngineConfig>['ready'] {
  const { path: healthPath = '/health', timeout_seconds: seconds = 60 } = reader.map(path, value, [
    'path',
    'timeout_seconds',
  ]);
  return {
    path: reader.string(`${path}.path`, healthPath, /^\/[\x21-\x7e]*$/),
    timeout_seconds: reader.whole(`${path}.timeout_seconds`, seconds, 1, 86_400),
  };
}

function readCommandPart(reader: ConfigReader, path: string, value: unknown): string {
  const part = reader.string(path, value);
  for (const [, placeholder] of part.matchAll(/\{([^{}]*)\}/g)) {
    if (!KNOWN_PLACEHOLDERS.has(placeholder as string))
      reader.fail(path, `uses {${placeholder}}; known: ${[...KNOWN_PLACEHOLDERS].map((one) => `{${one}}`).join(' ')}`);
  }
  return part;
}

function readArgument(reader: ConfigReader, path: string, name: string, value: unknown): string {
  if (!ARG_NAME.test(name)) reader.fail(path, `is not a valid argument name (${ARG_NAME.source})`);
  const template = reader.string(path, value);
  if (template !== '' && template.split('{}').length !== 2)
    reader.fail(path, 'must contain {} once, where the value goes');
  return template;
}
