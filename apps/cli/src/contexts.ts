import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from './exit-codes.js';
import { isIgnored, readLocalStack, type IgnoredHome, type LocalStack } from './local-stack.js';
import { withoutPath } from './servers/addresses.js';
import type { Environment } from './terminal.js';

/** The address of a Slipway, and the token to use there. */
export interface Context {
  name: string;
  url: string;
  token: string;
  /** The address of its gateway, if the stack itself tells it. */
  gatewayUrl?: string;
  /** The address is of this machine and no person typed it: it is called without a proxy. */
  isHere?: true;
}

interface ContextFile {
  current?: string;
  contexts: Record<string, { url: string; token: string }>;
}

/** A stack on this machine serves here unless another program has the port. */
const LOCAL_URL = 'http://127.0.0.1:7070';
/** The name of the stack of this machine, as a context. */
const LOCAL = 'local';
const MOST_BYTES = 1024 * 1024;

/** The contexts that `slipway login` has kept, in a file that only its owner can read. */
export class Contexts {
  readonly file: string;
  /** The home of a stack that no folder here or above has. */
  private readonly ownHome: string;

  constructor(
    private readonly env: Environment,
    private readonly cwd: string,
    /** The clone that this command was built in. */
    private readonly clone = fileURLToPath(new URL('../../..', import.meta.url)),
  ) {
    // A relative path would lead into the current folder, whose files may come from someone else.
    const absolute = (name: string): string | undefined => (path.isAbsolute(env[name] ?? '') ? env[name] : undefined);
    const person = absolute('HOME') ?? homedir();
    const config = absolute('XDG_CONFIG_HOME') ?? path.join(person, '.config');
    this.ownHome = path.join(person, '.slipway');
    this.file = path.join(config, 'slipway', 'contexts.json');
  }

  list(): (Context & { isCurrent: boolean })[] {
    const { current, contexts } = this.read();
    return Object.entries(contexts).map(([name, one]) => ({ name, ...one, isCurrent: name === current }));
  }

  /**
   * Returns the first context found: from the flag, the variables, the file, or the stack on this machine.
   * A token is never sent to an address that did not come with it. So SLIPWAY_URL alone is refused, and SLIPWAY_TOKEN
   * alone means the usual address of this machine, not an address in the current folder.
   */
  chosen(name?: string): Context {
    const { current, contexts } = this.read();
    const { SLIPWAY_URL: url, SLIPWAY_TOKEN: token } = this.env;
    if (name === undefined && token) {
      const named = { name: 'SLIPWAY_TOKEN', token: usableToken(token, 'SLIPWAY_TOKEN') };
      return url ? { ...named, url: serverOf(url) } : { ...named, url: this.addressForVariable(), isHere: true };
    }
    if (name === undefined && url)
      throw new CliError('SLIPWAY_URL is set, but SLIPWAY_TOKEN is not.', EXIT.needsLogin, 'Set both or neither.');
    const wanted = name ?? current;
    if (wanted !== undefined && Object.hasOwn(contexts, wanted)) {
      const { url: keptUrl, token: keptToken } = contexts[wanted]!;
      return { name: wanted, url: serverOf(keptUrl), token: keptToken };
    }
    const { stack, ignored } = this.local();
    const local: Context | undefined = stack && {
      name: LOCAL,
      url: stack.url ?? LOCAL_URL,
      token: stack.token,
      isHere: true,
      ...(stack.gatewayUrl !== undefined && { gatewayUrl: stack.gatewayUrl }),
    };
    if (local && (wanted === undefined || wanted === local.name)) return local;
    if (wanted !== undefined)
      throw new CliError(
        `The context ${wanted} was not found.`,
        EXIT.needsLogin,
        'Run slipway context list to see all contexts.',
      );
    const [first] = ignored;
    throw new CliError(
      first ? `Not logged in. ${first.home} is ignored: ${first.reason}.` : 'Not logged in.',
      EXIT.needsLogin,
      'Run slipway login --url https://slipway.example.com, or set SLIPWAY_URL and SLIPWAY_TOKEN.',
    );
  }

  /**
   * The home that `slipway up` starts: the one whose stack the other commands would use here, or else a new one.
   * @throws CliError if there are only homes that may come from someone else
   */
  homeToStart(): string {
    const named = this.env['SLIPWAY_HOME'];
    if (named) return path.resolve(this.cwd, named);
    const { stack, ignored } = this.local();
    if (stack) return stack.home;
    const [first] = ignored;
    if (first)
      throw new CliError(
        `${first.home} is ignored: ${first.reason}.`,
        EXIT.failed,
        'Fix that, or set SLIPWAY_HOME to the folder that should have the data.',
      );
    return this.ownHome;
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
   * The address for SLIPWAY_TOKEN without SLIPWAY_URL: that of SLIPWAY_HOME, or the usual one of this machine.
   * @throws CliError if a folder names another address
   */
  private addressForVariable(): string {
    const { stack, ignored } = this.local();
    const [first] = ignored;
    // A variable named this home, so its address came from the same person as the token.
    if (path.isAbsolute(this.env['SLIPWAY_HOME'] ?? '') && stack) return stack.url ?? LOCAL_URL;
    if (!first && (stack?.url ?? LOCAL_URL) === LOCAL_URL) return LOCAL_URL;
    const source = first
      ? `the stack in ${first.home} is ignored: ${first.reason}`
      : `the address ${stack?.url} is from ${stack?.addressFile}`;
    throw new CliError(
      `SLIPWAY_TOKEN is from the environment, and ${source}. A token is not sent to an address that was found in a folder.`,
      EXIT.needsLogin,
      'Set SLIPWAY_URL to the server of the token, or unset SLIPWAY_TOKEN to use the token of the stack itself.',
    );
  }

  /**
   * The stack of `npm start` or `slipway up`: of SLIPWAY_HOME, of this folder or a parent folder, of the person's own
   * folder, or of the clone that this command was built in.
   * @returns `ignored`: homes nearer than the stack that are not used
   */
  private local(): { stack?: LocalStack; ignored: IgnoredHome[] } {
    const ignored: IgnoredHome[] = [];
    for (const home of this.homes()) {
      const found = readLocalStack(home);
      if (found === undefined) continue;
      if (!isIgnored(found)) return { stack: found, ignored };
      ignored.push(found);
    }
    return { ignored };
  }

  /** The nearest first. */
  private homes(): string[] {
    const named = this.env['SLIPWAY_HOME'];
    // A person who names a home may name a link to it.
    if (named) return [realOf(path.resolve(this.cwd, named))];
    const homes: string[] = [];
    for (let folder = this.cwd; ; folder = path.dirname(folder)) {
      homes.push(path.join(folder, '.slipway'));
      if (folder === path.dirname(folder)) break;
    }
    return [...new Set([...homes, this.ownHome, path.join(this.clone, '.slipway')])];
  }

  private read(): ContextFile {
    if (!existsSync(this.file)) return { contexts: {} };
    const { size, uid, mode } = statSync(this.file);
    const own = process.getuid?.();
    try {
      // A user who may change the file may change the address that belongs to a token.
      if (own !== undefined && ((uid !== own && uid !== 0) || (mode & 0o022) !== 0))
        throw new Error('other users may change it; run chmod 600 on it');
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
 * A token as it was pasted: with spaces around it, or with the scheme of its header.
 * @throws CliError that names its source and not the token, because errors end up in logs
 */
export function usableToken(given: string, source: string): string {
  const token = given.trim().replace(/^bearer\s+/i, '');
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CliError(
    `${source} is invalid: it must be one line of ASCII characters without spaces.`,
    EXIT.needsLogin,
    'Copy the token again.',
  );
}

/** The address without `/api/v1` and without slashes at its end. */
export const serverOf = (url: string): string => withoutPath(url.trim(), '/api/v1');

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
