import type { ConfigReader } from '@slipway/platform-config';
import { ARG_NAME } from './template-schemas.js';

type Bag = Record<string, unknown>;

/**
 * What is so often written wrongly that it is said in words of its own. The key goes then, and is not told of again.
 * @param instead what may stand in the place of a command
 */
export function checkCommandShape(reader: ConfigReader, path: string, engine: Bag, instead = ''): void {
  const { command } = engine;
  if (command !== undefined && !Array.isArray(command)) {
    reader.fail(`${path}.command`, 'must be a list with each word by itself, as in [llama-server, "--port", "{port}"]');
    delete engine['command'];
  } else if (command === undefined || (command as unknown[]).length === 0) {
    reader.fail(`${path}.command`, `must name a program, as in [llama-server, "--port", "{port}"]${instead}`);
    delete engine['command'];
  }
}

/** Names of arguments, each of which becomes a key of revisions. */
export function checkArgNames(reader: ConfigReader, path: string, args: unknown): string[] {
  return Object.keys(Object(args) as Bag).filter((name) => {
    if (ARG_NAME.test(name)) return true;
    reader.fail(`${path}.args.${name}`, `is not a valid argument name (${ARG_NAME.source})`);
    return false;
  });
}
