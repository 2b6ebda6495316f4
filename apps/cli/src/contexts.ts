import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from './exit-codes.js';
import type { Environment } from './terminal.js';

/** The address of a Slipway, and the token to use there. */
export interface Context {
  name: string;
  url: string;
  token: string;
}

interface ContextFile {
  current?: string;
  contexts: Record<string, { url: string; token: string }>;
}

/** `npm start` serves here unless another program has the port. */
const LOCAL_URL = 'http://127.0.0.1:7070';
const MOST_BYTES = 1024 * 1024;

/** The contexts that `slipway login` has kept, in a file that only its owner can read. */
export class Contexts {
  readonly file: string;

  constructor(
    private readonly env: Environment,
    private readonly cwd: string,
  ) {
    const config = env['XDG_CONFIG_HOME'] || path.join(env['HOME'] || homedir(), '.config');
    this.file = path.join(config, 'slipway', 'contexts.json');
  }

  list(): (Context & { isCurrent: boolean })[] {
    const { current, contexts } = this.read();
    return Object.entries(contexts).map(([name, one]) => ({ name, ...one, isCurrent: name === current }));
  }

  /**
   * Returns the first context found: from the flag, the variables, the file, or the stack on this machine.
   * SLIPWAY_URL alone is refused, and SLIPWAY_TOKEN alone means this machine: a token is never sent
   * to an address that did not come with it.
   */
  chosen(name?: string): Context {
    const { current, contexts } = this.read();
    const { SLIPWAY_URL: url, SLIPWAY_TOKEN: token } = this.env;
    if (name === undefined && token)
      return { name: 'SLIPWAY_TOKEN', url: url || this.local()?.url || LOCAL_URL, token };
    if (name === undefined && url)
      throw new CliError('SLIPWAY_URL is set, but SLIPWAY_TOKEN is not.', EXIT.needsLogin, 'Set both or neither.');
    const wanted = name ?? current;
    if (wanted !== undefined && Object.hasOwn(contexts, wanted)) return { name: wanted, ...contexts[wanted]! };
    const local = this.local();
    if (local && (wanted === undefined || wanted === local.name)) return local;
    if (wanted !== undefined)
      throw new CliError(
        `The context ${wanted} was not found.`,
        EXIT.needsLogin,
        'Run slipway context list to see all contexts.',
      );
    throw new CliError(
      'Not logged in.',
      EXIT.needsLogin,
      'Run slipway login --url https://slipway.example.com, or set SLIPWAY_URL and SLIPWAY_TOKEN.',
    );
  }

  keep({ name, url, token }: Context): void {
    const { contexts } = this.read();
    this.write({ current: name, contexts: { ...contexts, [name]: { url, token } } });
  }

  use(name: string): void {
    const kept = this.read();
    if (!Object.hasOwn(kept.contexts, name)) throw new CliError(`The context ${name} was not found.`, EXIT.notFound);
    this.write({ ...kept, current: name });
  }

  forget(name: string): void {
    const { current, contexts } = this.read();
    if (!Object.hasOwn(contexts, name)) throw new CliError(`The context ${name} was not found.`, EXIT.notFound);
    const { [name]: _gone, ...left } = contexts;
    this.write({ contexts: left, ...(current !== name && { current }) });
  }

  /**
   * The stack of `npm start`: of SLIPWAY_HOME, of this folder or a parent folder, or of
   * the clone that this command was built in.
   */
  private local(): Context | undefined {
    const homes = [path.join(fileURLToPath(new URL('../../..', import.meta.url)), '.slipway')];
    for (let folder = this.cwd; ; folder = path.dirname(folder)) {
      homes.unshift(path.join(folder, '.slipway'));
      if (folder === path.dirname(folder)) break;
    }
    const nearestFirst = [...homes.slice(0, -1).reverse(), ...homes.slice(-1)];
    for (const home of this.env['SLIPWAY_HOME'] ? [this.env['SLIPWAY_HOME']] : nearestFirst) {
      const token = readOwn(path.join(home, 'bootstrap-token'))?.trim();
      if (!token) continue;
      const url = readOwn(path.join(home, 'run', 'api-url'))?.trim();
      return { name: 'local', url: url || LOCAL_URL, token };
    }
    return undefined;
  }

  private read(): ContextFile {
    if (!existsSync(this.file)) return { contexts: {} };
    const { size } = statSync(this.file);
    try {
      if (size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`);
      const kept = JSON.parse(readFileSync(this.file, 'utf8')) as Partial<ContextFile>;
      return { current: kept.current, contexts: kept.contexts ?? {} };
    } catch (error) {
      throw new CliError(
        `${this.file} cannot be read: ${(error as Error).message}`,
        EXIT.failed,
        'Fix or delete the file.',
      );
    }
  }

  private write(kept: ContextFile): void {
    mkdirSync(path.dirname(this.file), { recursive: true, mode: 0o700 });
    const written = `${this.file}.${process.pid}`;
    writeFileSync(written, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    // writeFileSync keeps the mode of an existing file.
    chmodSync(written, 0o600);
    renameSync(written, this.file);
  }
}

/**
 * Reads only files of the current user: in a folder that all may write, another
 * user's token and address would be a trap.
 */
function readOwn(file: string): string | undefined {
  try {
    const { uid } = statSync(file);
    const own = process.getuid?.();
    return own === undefined || uid === own ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
