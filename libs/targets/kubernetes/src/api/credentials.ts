import { execFile } from 'node:child_process';
import { readBounded } from './bounded-file.js';
import { KubeConfigError } from './errors.js';

/** Our identity, as a header. */
export interface ClusterCredentials {
  /** @throws KubeConfigError if the credentials cannot be read */
  header(): Promise<string | undefined>;
  /** The server refused the last credentials. */
  forget(): void;
  close(): void;
}

/** A program that prints our credentials, from the `exec` of a kubeconfig. */
export interface ExecPlugin {
  /** The kubeconfig, for errors. */
  file: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  apiVersion: string;
}

/** The kubelet renews tokens long before their end. The file is read again after this time. */
const TOKEN_AGE_MS = 60_000;
const PLUGIN_TIMEOUT_MS = 30_000;
const PLUGIN_MAX_BYTES = 1024 * 1024;
/** How long before its end a token is renewed. */
const EARLY_MS = 60_000;
/** The shortest time between two runs of a plugin that fails, or whose token the server refuses. */
const PLUGIN_PAUSE_MS = 5_000;

const TOKEN = /^[\x21-\x7e]+$/;

/** A token in a file that is renewed from outside. */
export class FileToken implements ClusterCredentials {
  private token?: string;
  private readAt = -Infinity;

  constructor(
    private readonly file: string,
    private readonly now: () => number,
  ) {}

  async header(): Promise<string> {
    if (this.token === undefined || this.now() - this.readAt >= TOKEN_AGE_MS) this.read();
    return `Bearer ${this.token}`;
  }

  forget(): void {
    this.readAt = -Infinity;
  }

  close(): void {
    this.token = undefined;
  }

  /** While a new token is being written, the old one stays in use. */
  private read(): void {
    try {
      const token = readBounded(this.file, 'it must hold the token of the target').trim();
      if (!TOKEN.test(token))
        throw new KubeConfigError(this.file, 'does not contain a token; a token is one line of visible characters');
      this.token = token;
    } catch (error) {
      if (this.token === undefined) throw error;
    }
    this.readAt = this.now();
  }
}

interface Credential {
  token: string;
  /** Undefined: valid until the server refuses it. */
  endsAt?: number;
}

/** A token that a program prints (client-go credential plugins), kept until shortly before it expires. */
export class ExecCredentials implements ClusterCredentials {
  private kept?: Credential;
  private failed?: KubeConfigError;
  private ranAt = -Infinity;
  private running?: Promise<Credential>;
  private readonly closing = new AbortController();

  constructor(
    private readonly plugin: ExecPlugin,
    private readonly now: () => number,
    private readonly environment: Record<string, string | undefined>,
  ) {}

  async header(): Promise<string> {
    const { kept } = this;
    // A plugin whose tokens live for seconds does not run for each call.
    const earlyMs = this.now() - this.ranAt < PLUGIN_PAUSE_MS ? 0 : EARLY_MS;
    if (kept && (kept.endsAt === undefined || this.now() < kept.endsAt - earlyMs)) return `Bearer ${kept.token}`;
    try {
      // Concurrent callers wait for the same run.
      return `Bearer ${(await (this.running ??= this.run())).token}`;
    } catch (error) {
      if (kept && (kept.endsAt ?? Infinity) > this.now()) return `Bearer ${kept.token}`;
      throw error;
    } finally {
      this.running = undefined;
    }
  }

  forget(): void {
    if (this.now() - this.ranAt >= PLUGIN_PAUSE_MS) this.kept = undefined;
  }

  close(): void {
    this.closing.abort();
  }

  private async run(): Promise<Credential> {
    if (this.failed && this.now() - this.ranAt < PLUGIN_PAUSE_MS) throw this.failed;
    this.ranAt = this.now();
    try {
      this.kept = this.credentialIn(await this.output());
      this.failed = undefined;
      return this.kept;
    } catch (error) {
      this.failed = error instanceof KubeConfigError ? error : this.problem((error as Error).message);
      throw this.failed;
    }
  }

  private output(): Promise<string> {
    const { command, args, env, apiVersion } = this.plugin;
    const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } });
    const options = {
      env: { ...this.environment, ...env, KUBERNETES_EXEC_INFO: info },
      timeout: PLUGIN_TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: PLUGIN_MAX_BYTES,
      signal: this.closing.signal,
    } as const;
    return new Promise((done, fail) => {
      const child = execFile(command, args, options, (error, stdout) => {
        if (!error) return done(stdout);
        // The error has neither its output nor its arguments: both may contain secrets, which must not get into a log.
        const { code, killed, signal } = error as { code?: unknown; killed?: boolean; signal?: string | null };
        const isEnded = killed || code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
        const why = isEnded ? 'was stopped: it ran too long or printed too much' : `failed (${String(code ?? signal)})`;
        fail(this.problem(`${why}; run it by hand to see its output`));
      });
      child.stdin?.on('error', () => undefined).end();
    });
  }

  private credentialIn(output: string): Credential {
    let answer: {
      kind?: unknown;
      apiVersion?: unknown;
      status?: { token?: unknown; expirationTimestamp?: unknown };
    } | null;
    try {
      answer = JSON.parse(output);
    } catch {
      throw this.problem('did not print JSON');
    }
    if (answer?.kind !== 'ExecCredential' || answer.apiVersion !== this.plugin.apiVersion)
      throw this.problem(
        `did not print an ExecCredential of ${this.plugin.apiVersion}; its output must have this \`apiVersion\``,
      );
    const { token, expirationTimestamp } = answer.status ?? {};
    if (typeof token !== 'string' || !TOKEN.test(token))
      throw this.problem(
        'did not print a token (client certificates from plugins are not supported); use a plugin that prints a token',
      );
    if (expirationTimestamp === undefined || expirationTimestamp === null) return { token };
    const endsAt = Date.parse(String(expirationTimestamp));
    if (!Number.isFinite(endsAt)) throw this.problem('printed an expirationTimestamp that is not a time');
    if (endsAt <= this.now()) throw this.problem('printed a token that has expired; check the clocks');
    return { token, endsAt };
  }

  private problem(what: string): KubeConfigError {
    return new KubeConfigError(this.plugin.file, `the \`exec\` plugin ${this.plugin.command} ${what.slice(0, 500)}`);
  }
}
