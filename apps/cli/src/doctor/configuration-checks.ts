import { constants, existsSync, readFileSync, statSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fault, ok, skipped, warning, type Check, type Surroundings } from './check.js';

/** The same limit as in the product. */
const MOST_BYTES = 2 ** 20;
const MOST_TOLD = 3;

/**
 * The programs of the built-in templates, and the paths that are searched before
 * PATH. A test compares them with the product.
 */
export const PROGRAMS: Record<string, { program: string; path: readonly string[] }> = {
  vllm: { program: 'vllm', path: ['/opt/vllm/bin', '/usr/local/cuda/bin'] },
  sglang: { program: 'python', path: ['/opt/sglang/bin', '/usr/local/cuda/bin'] },
  llamacpp: { program: 'llama-server', path: ['/opt/llama.cpp/bin'] },
  tgi: { program: 'text-generation-launcher', path: ['/opt/tgi/bin'] },
  tei: { program: 'text-embeddings-router', path: ['/opt/tei/bin'] },
  lmdeploy: { program: 'lmdeploy', path: ['/opt/lmdeploy/bin', '/usr/local/cuda/bin'] },
  trtllm: { program: 'trtllm-serve', path: ['/opt/trtllm/bin', '/usr/local/cuda/bin'] },
};

interface Engine {
  extends?: string | null;
  program?: string;
  path?: string[];
  command?: (string | string[])[];
}
interface Configuration {
  targets?: { name?: string; kind?: string; engines?: Record<string, Engine | null> }[] | null;
}

const fileOf = ({ env, cwd }: Surroundings): string =>
  path.resolve(cwd, env['SLIPWAY_CONFIG'] || 'slipway.config.yaml');

async function configurationOf(around: Surroundings): Promise<Configuration | undefined> {
  const file = fileOf(around);
  if (!existsSync(file)) return undefined;
  if (statSync(file).size > MOST_BYTES) throw new Error(`${file} is larger than ${MOST_BYTES} bytes`);
  const { parse } = await import('yaml');
  return parse(readFileSync(file, 'utf8'), { maxAliasCount: 100 }) as Configuration;
}

const configuration: Check = {
  name: 'configuration',
  look: async (around) => {
    const file = fileOf(around);
    const remedy = `\${EDITOR:-vi} ${file}`;
    let settings: Configuration | undefined;
    try {
      settings = await configurationOf(around);
    } catch (error) {
      return fault(`${file} cannot be read: ${(error as Error).message.split('\n')[0]}`, remedy);
    }
    if (settings === undefined)
      return around.env['SLIPWAY_CONFIG']
        ? fault(`SLIPWAY_CONFIG names ${file}, which does not exist`, 'unset SLIPWAY_CONFIG')
        : skipped('no slipway.config.yaml in this folder: the built-in settings apply');
    const schema = schemaFile();
    if (!schema)
      return ok(
        `${file} is valid YAML; its schema is not installed here, so only the api can validate it, when it starts`,
      );
    const { schemaFaults } = await import('../schema-faults.js');
    const faults = await schemaFaults(JSON.parse(readFileSync(schema, 'utf8')) as object, { validateFormats: true });
    const said = faults(settings).map(({ path: where, message }) => `${where.join('.')} ${message}`.trim());
    if (said.length === 0) return ok(`${file} matches its schema`);
    return fault(`${file}: ${[...new Set(said)].slice(0, MOST_TOLD).join('; ')}`, remedy);
  },
};

/** In a clone, the schema is next to the command. A command that was installed alone has no schema. */
function schemaFile(): string | undefined {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    const file = path.join(folder, 'libs/platform/config/slipway.config.schema.json');
    if (existsSync(file)) return file;
    if (folder === path.dirname(folder)) return undefined;
  }
}

const engines: Check = {
  name: 'engines',
  look: async (around) => {
    const settings = await configurationOf(around).catch(() => undefined);
    const wanted = (settings?.targets ?? []).flatMap((target) =>
      target.kind === 'process' || target.name === 'local'
        ? Object.entries(target.engines ?? {}).flatMap(([name, engine]) => wantedOf(name, engine))
        : [],
    );
    const searched = around.env['PATH'] ?? '';
    if (wanted.length === 0) {
      const known = await Promise.all(
        Object.entries(PROGRAMS)
          // sglang's program is Python, so any Python would count as sglang.
          .filter(([name]) => name !== 'sglang')
          .map(async ([name, one]) => ((await isFound(one, searched, around.cwd)) ? name : undefined)),
      );
      const found = known.filter((name) => name !== undefined);
      return skipped(`the configuration lists no engines${found.length > 0 ? `; installed: ${found.join(', ')}` : ''}`);
    }
    const missing = [];
    for (const one of wanted) if (!(await isFound(one, searched, around.cwd))) missing.push(one);
    if (missing.length === 0) return ok(wanted.map(({ name, program }) => `${name} (${program})`).join(', '));
    const said = missing.map(({ name, program }) => `${name}: ${program} is not on the PATH`).join('; ');
    return warning(`${said}; if the workers run on another machine, check there`, `which ${missing[0]!.program}`);
  },
};

function wantedOf(name: string, engine: Engine | null): { name: string; program: string; path: readonly string[] }[] {
  if (!engine) return [];
  const template = engine.extends === 'builtin' ? name : engine.extends?.split('@')[0];
  const built = template ? PROGRAMS[template] : undefined;
  const program = engine.program ?? [engine.command?.[0] ?? []].flat()[0] ?? built?.program;
  if (program === undefined || program.includes('{')) return [];
  return [{ name, program, path: engine.path ?? built?.path ?? [] }];
}

async function isFound(
  { program, path: first }: { program: string; path: readonly string[] },
  searched: string,
  cwd: string,
): Promise<boolean> {
  const folders = program.includes('/') ? ['.'] : [...first, ...searched.split(path.delimiter).filter(Boolean)];
  for (const folder of folders) {
    const file = path.resolve(cwd, folder, program);
    const isProgram = await access(file, constants.X_OK).then(
      async () => (await stat(file)).isFile(),
      () => false,
    );
    if (isProgram) return true;
  }
  return false;
}

export const CONFIGURATION_CHECKS: readonly Check[] = [configuration, engines];
