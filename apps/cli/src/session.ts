import type { Slipway } from '@slipway/sdk';
import { Contexts } from './contexts.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';
import { Output, type OutputFlags } from './output.js';
import { Terminal, type Environment, type Streams } from './terminal.js';

const MOST_BODY = 4_000;

/** `-v`: each request as a line of curl, and what came back. The token is masked: such lines end up in tickets. */
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

/** Double quotes where the shell is to fill in the token. */
function quoted(text: string): string {
  if (text.endsWith('$SLIPWAY_TOKEN')) return `"${text}"`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What every command takes. */
export interface GlobalFlags extends OutputFlags {
  context?: string;
  verbose?: boolean;
  yes?: boolean;
}

export interface SessionOptions extends Streams {
  env: Environment;
  cwd: string;
  /** Aborts with Ctrl-C. */
  signal: AbortSignal;
  fetch?: typeof fetch;
}

/** One run of the command: who it talks to, where it writes, and what it ends with. */
export class Session {
  /** Set before the action of any command runs. */
  flags: GlobalFlags = {};
  exitCode: ExitCode = EXIT.ok;
  readonly terminal: Terminal;
  readonly output: Output;
  readonly contexts: Contexts;
  /** Aborts with Ctrl-C: waiting and following end, nothing at the server does. */
  readonly signal: AbortSignal;
  readonly cwd: string;
  readonly env: Environment;
  private slipway: Promise<Slipway> | undefined;

  constructor(private readonly options: SessionOptions) {
    const { env, cwd, signal, stdin, stdout, stderr } = options;
    this.env = env;
    this.cwd = cwd;
    this.signal = signal;
    this.terminal = new Terminal({ stdin, stdout, stderr }, env);
    this.output = new Output(this.terminal, () => this.flags);
    this.contexts = new Contexts(env, cwd);
  }

  /** The sdk for the chosen context, loaded when it is first asked for. */
  client(): Promise<Slipway> {
    return (this.slipway ??= this.clientOf(this.contexts.chosen(this.flags.context)));
  }

  async clientOf({ url, token }: { url: string; token: string }): Promise<Slipway> {
    const { Slipway } = await import('@slipway/sdk');
    try {
      return new Slipway({ baseUrl: url, token, fetch: this.fetch });
    } catch {
      throw new CliError(
        `${url} is not a valid Slipway URL.`,
        EXIT.failed,
        'The URL must start with http:// or https://.',
      );
    }
  }

  /** Tells each request where `-v` asks for it. */
  readonly fetch: typeof fetch = (input, init) => {
    const own = this.options.fetch ?? globalThis.fetch;
    return (this.flags.verbose ? tellingFetch(own, (line) => this.note(line)) : own)(input, init);
  };

  /** For what has no end: Ctrl-C is how one leaves it. */
  async untilInterrupted(follow: () => Promise<void>): Promise<void> {
    try {
      await follow();
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
  }

  /** A line for the person, on stderr. */
  note(line: string): void {
    this.output.note(line);
  }
}
