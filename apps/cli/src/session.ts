import type { Slipway } from '@slipway/sdk';
import { Contexts, type Context } from './contexts.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';
import { Output, type OutputFlags } from './output.js';
import { Terminal, type Environment, type Streams } from './terminal.js';

const MOST_BODY = 4_000;

/**
 * `-v`: prints each request as a line of curl, and its answer. The token is
 * masked, because such lines end up in tickets.
 */
function tellingFetch(own: typeof fetch, tell: (line: string) => void): typeof fetch {
  return async (input, init = {}) => {
    tell(curlLine(String(input), init));
    const response = await own(input, init);
    const id = response.headers.get('x-request-id');
    tell(`< ${response.status}${id ? ` request ${id}` : ''}`);
    return response;
  };
}

function curlLine(url: string, { method = 'GET', headers, body }: RequestInit): string {
  const words = ['curl', '-X', method];
  for (const [name, value] of new Headers(headers).entries())
    words.push('-H', quoted(`${name}: ${name === 'authorization' ? 'Bearer $SLIPWAY_TOKEN' : value}`));
  if (typeof body === 'string') words.push('-d', quoted(body.length > MOST_BODY ? '@file' : body));
  else if (body) words.push('--data-binary', '@file');
  return [...words, quoted(url)].join(' ');
}

/** Double quotes if the shell should insert the token. */
function quoted(text: string): string {
  if (text.endsWith('$SLIPWAY_TOKEN')) return `"${text}"`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The flags of every command. */
export interface GlobalFlags extends OutputFlags {
  context?: string;
  verbose?: boolean;
  yes?: boolean;
  /** Only commands that send a body have it. */
  allowUnknown?: boolean;
}

export interface SessionOptions extends Streams {
  env: Environment;
  cwd: string;
  /** Aborts with Ctrl-C. */
  signal: AbortSignal;
  fetch?: typeof fetch;
}

/** One run of the command: its server, its outputs, and its exit code. */
export class Session {
  /** Set before the action of any command runs. */
  flags: GlobalFlags = {};
  exitCode: ExitCode = EXIT.ok;
  /** The usual address of this machine, if a command calls it without a context: it is called without a proxy. */
  localUrl?: string;
  readonly terminal: Terminal;
  readonly output: Output;
  readonly contexts: Contexts;
  /** Aborts with Ctrl-C: waiting and following end, and the work at the server continues. */
  readonly signal: AbortSignal;
  readonly cwd: string;
  readonly env: Environment;
  private slipway: Promise<Slipway> | undefined;
  private context: Context | undefined;

  constructor(private readonly options: SessionOptions) {
    const { env, cwd, signal, stdin, stdout, stderr } = options;
    this.env = env;
    this.cwd = cwd;
    this.signal = signal;
    this.terminal = new Terminal({ stdin, stdout, stderr }, env);
    this.output = new Output(this.terminal, () => this.flags);
    this.contexts = new Contexts(env, cwd);
  }

  /** The installation that this run uses. */
  chosen(): Context {
    return (this.context ??= this.contexts.chosen(this.flags.context));
  }

  /** The sdk for the chosen context, loaded on first use. */
  client(): Promise<Slipway> {
    return (this.slipway ??= this.clientOf(this.chosen()));
  }

  async clientOf({ url, token }: { url: string; token: string }): Promise<Slipway> {
    const { Slipway } = await import('@slipway/sdk');
    try {
      return new Slipway({ baseUrl: url, token, fetch: this.fetch, strict: !this.flags.allowUnknown });
    } catch {
      throw new CliError(
        `${url} is not a valid Slipway URL.`,
        EXIT.failed,
        'The URL must start with http:// or https://.',
      );
    }
  }

  /** Calls through the proxies of the environment, and prints each request if `-v` is set. */
  readonly fetch: typeof fetch = async (input, init) => {
    const own = this.options.fetch ?? (await this.fetchFor(new URL(String(input))));
    return (this.flags.verbose ? tellingFetch(own, (line) => this.note(line)) : own)(input, init);
  };

  /** The stack of this machine is no affair of a proxy, whatever NO_PROXY says. */
  private async fetchFor({ hostname }: URL): Promise<typeof fetch> {
    const { isHere, url, gatewayUrl } = this.context ?? {};
    const direct = isHere ? [url, gatewayUrl] : [this.localUrl];
    const isDirect = direct.some((one) => one !== undefined && URL.canParse(one) && new URL(one).hostname === hostname);
    return isDirect ? globalThis.fetch : (await import('@slipway/sdk')).environmentFetch(this.env);
  }

  /** Runs an endless command, which Ctrl-C ends. */
  async untilInterrupted(follow: () => Promise<void>): Promise<void> {
    try {
      await follow();
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
  }

  /** Prints a line for the person, on stderr. */
  note(line: string): void {
    this.output.note(line);
  }
}
