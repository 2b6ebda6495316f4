import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { ArgValue } from '@slipway/contracts';

/** Options of `try`. */
export interface TryOptions {
  engine: string;
  model: { id: string; uri: string; revision?: string };
  args: Record<string, ArgValue>;
  /** Device indices, in the order of the PCI bus. */
  gpus: number[];
  /** The operator's file. Without it, only the built-in template applies. */
  config?: string;
  /** Which of the process targets in the file, if several have the engine. */
  target?: string;
  program?: string;
  /** The folder that `{home}` means in the model sources of the file. */
  installation?: string;
  /** Folder for caches and instances. By default a temporary folder, which is removed at the end. */
  home?: string;
}

export type Command = { name: 'help' } | { name: 'list' } | { name: 'try'; options: TryOptions };

export const USAGE = `usage: npm run engines -- list
       npm run engines -- try ENGINE --model PATH_OR_ID [options]

  --id NAME           name of the model (default: the last part of its path)
  --revision REF      revision of a model on the hub
  --program PATH      program of the engine (default: the program of the template)
  --gpus 0,1          accelerators for the engine, in the order of the PCI bus (default: none)
  --arg NAME=VALUE    argument that the template declares; may be repeated
  --config FILE       operator's file with the engine to try (default: the built-in template)
  --target NAME       target in that file, if several have the engine
  --home FOLDER       folder for caches and instances (default: a temporary folder)
`;

/** Thrown for an invalid command line; the message is for the person who typed it. */
export class UsageError extends Error {}

/** @throws UsageError for an invalid command line */
export function readCommand(argv: string[]): Command {
  const { values, positionals } = parsed(argv);
  const [name, engine, ...rest] = positionals;
  if (values.help || name === 'help') return { name: 'help' };
  if (name === 'list' && engine === undefined) return { name: 'list' };
  if (name !== 'try') throw new UsageError(name === undefined ? 'a command is missing' : `unknown command ${name}`);
  if (engine === undefined || rest.length > 0) throw new UsageError('exactly one engine is required');
  const { model: uri, id, revision, gpus, config, target, program, home } = values;
  if (uri === undefined || uri === '') throw new UsageError('--model is missing');
  const model = { id: id ?? basename(uri).replace(/\.gguf$/i, ''), uri, ...(revision !== undefined && { revision }) };
  return {
    name: 'try',
    options: {
      engine,
      model,
      args: Object.fromEntries((values.arg ?? []).map(readArg)),
      gpus: readGpus(gpus),
      ...(config !== undefined && { config }),
      ...(target !== undefined && { target }),
      ...(program !== undefined && { program }),
      ...(home !== undefined && { home }),
    },
  };
}

function parsed(argv: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        model: text,
        id: text,
        revision: text,
        program: text,
        gpus: text,
        arg: { type: 'string', multiple: true },
        config: text,
        target: text,
        home: text,
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readGpus(text = ''): number[] {
  const indices = text.split(',').filter((one) => one !== '');
  if (!indices.every((one) => /^\d{1,3}$/.test(one)))
    throw new UsageError('--gpus must be a list of numbers, such as 0,1');
  return indices.map(Number);
}

/** Reads `true`, `false` and numbers as such. */
function readArg(text: string): [string, ArgValue] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError('--arg must be NAME=VALUE');
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  if (value === 'true' || value === 'false') return [name, value === 'true'];
  return [name, value !== '' && Number.isFinite(Number(value)) ? Number(value) : value];
}
