import { createHash } from 'node:crypto';
import { constants, existsSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { type OperatorConfig, OperatorConfigError } from './operator-config.js';

/** The state of the operator's file in this process. */
export interface OperatorFileState {
  /**
   * SHA-256 of the file in effect, in hex as `sha256sum` prints it; null if there is none, so that only the built-in
   * settings apply.
   */
  digest: string | null;
  /** When the file took effect, by this process's clock; for people. */
  loadedAt: Date;
  /** The problems of the current file; empty while it is in effect. */
  problems: readonly string[];
}

/**
 * Prepares for other settings and returns the function that puts them into effect, which must not fail. Throws to
 * refuse the settings as a whole.
 */
export type SettingsPreparation = (next: OperatorConfig) => () => void;

/**
 * The operator's settings in effect. They change while the process runs, so read a key when you use it, and keep no
 * copy. Code that derives something from them uses `follow`.
 */
export class OperatorSettings implements OperatorConfig {
  private readonly preparations: SettingsPreparation[] = [];

  private constructor(
    private readonly parse: (text: string | undefined) => OperatorConfig,
    private readonly fetchCode: (text: string | undefined) => Promise<void>,
    private held: OperatorConfig,
    private stands: OperatorFileState,
  ) {}

  /**
   * @param parse reads the text of the file; undefined if there is no file
   * @param fetchCode loads the code that `parse` needs for a text, if it is not loaded yet
   * @throws OperatorConfigError
   */
  static of(
    parse: (text: string | undefined) => OperatorConfig,
    text: string | undefined,
    fetchCode: (text: string | undefined) => Promise<void> = async () => undefined,
  ): OperatorSettings {
    return new OperatorSettings(parse, fetchCode, parse(text), holding(text));
  }

  /** Settings without a file, for tests. */
  static fixed(config: OperatorConfig): OperatorSettings {
    return OperatorSettings.of(() => config, undefined);
  }

  get targets(): OperatorConfig['targets'] {
    return this.held.targets;
  }

  get secrets(): OperatorConfig['secrets'] {
    return this.held.secrets;
  }

  get outbound(): OperatorConfig['outbound'] {
    return this.held.outbound;
  }

  get quotas(): OperatorConfig['quotas'] {
    return this.held.quotas;
  }

  get retention(): OperatorConfig['retention'] {
    return this.held.retention;
  }

  get abandoned_targets(): OperatorConfig['abandoned_targets'] {
    return this.held.abandoned_targets;
  }

  get accelerators(): OperatorConfig['accelerators'] {
    return this.held.accelerators;
  }

  get state(): OperatorFileState {
    return this.stands;
  }

  /**
   * Prepares for the current settings, and again before they change. @throws the error of `prepare` for the current
   * settings
   */
  follow(prepare: SettingsPreparation): void {
    prepare(this)();
    this.preparations.push(prepare);
  }

  /** Like `offer`, for a text that may name code that this process has not needed yet. */
  async offerAnew(text: string | undefined): Promise<readonly string[]> {
    try {
      await this.fetchCode(text);
    } catch (error) {
      this.refuse([
        `the code of a target kind in the file cannot be loaded: ${String((error as Error).message ?? error)}`,
      ]);
      return this.stands.problems;
    }
    return this.offer(text);
  }

  /**
   * Accepts the text of the file as a whole, or refuses it as a whole and keeps the settings in effect. @returns the
   * problems of the text
   */
  offer(text: string | undefined): readonly string[] {
    try {
      const next = this.parse(text);
      const commits = this.preparations.map((prepare) => prepare(next));
      this.held = next;
      for (const commit of commits) commit();
      const { digest } = holding(text);
      this.stands = digest === this.stands.digest ? { ...this.stands, problems: [] } : holding(text);
    } catch (error) {
      this.refuse(error instanceof OperatorConfigError ? error.problems : [String((error as Error).message ?? error)]);
    }
    return this.stands.problems;
  }

  /** For a file that cannot be read. */
  refuse(problems: readonly string[]): void {
    this.stands = { ...this.stands, problems };
  }
}

export function fileDigestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function holding(text: string | undefined): OperatorFileState {
  return { digest: text === undefined ? null : fileDigestOf(text), loadedAt: new Date(), problems: [] };
}

/** Far larger than any real file; a larger file was named by mistake. */
const MAX_BYTES = 2 ** 20;
/** Polled, because file watchers lose a file that is a symbolic link when the link is swapped, as Kubernetes does. */
const POLL_MS = 500;

/** The file that contains the operator's settings. */
export interface OperatorFile {
  /** Absolute. */
  path: string;
  /** Whether the file was configured by name, so that it must exist. */
  isNamed: boolean;
}

/** Receives messages about changes of the file, for the operator of the process. */
export interface FileLog {
  log(message: string): void;
  error(message: string): void;
}

/** The result of a poll. Results with different `key` differ. */
type Finding = { key: string } & ({ text: string | undefined } | { problem: string });

export function operatorFileOf(configured: string | undefined, cwd: string): OperatorFile {
  return { path: path.resolve(cwd, configured ?? 'slipway.config.yaml'), isNamed: configured !== undefined };
}

/**
 * Reads the file at boot. This also reads something that is not a file, such as a pipe, which cannot be read again.
 * @returns undefined if there is no file and none is required
 * @throws Error that says why the file cannot be read
 */
export function readOperatorFile({ path: file, isNamed }: OperatorFile): string | undefined {
  if (!isNamed && !existsSync(file)) return undefined;
  try {
    if (statSync(file).size > MAX_BYTES) throw new Error(TOO_LARGE);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(unreadable(file, error));
  }
}

/**
 * Applies changes of the operator's file to its settings. It reads the file every half second, and accepts a text that
 * two polls found, so that a file is not accepted while it is being written.
 * An invalid or missing file changes only the state until it is fixed.
 */
export class OperatorFileWatch {
  private judged: string;
  private seen?: string;
  private timer?: NodeJS.Timeout;
  private looking: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly settings: OperatorSettings,
    private readonly file: OperatorFile,
    private readonly log: FileLog,
  ) {
    this.judged = settings.state.digest ?? ABSENT;
  }

  /** Does nothing for something that cannot be read twice. */
  start(): void {
    if (statSync(this.file.path, { throwIfNoEntry: false })?.isFile() === false) return;
    this.schedule();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.looking;
  }

  /** Reads the file now, and logs the result even if nothing changed. */
  reload(): Promise<void> {
    this.looking = this.looking.then(() => this.look(true));
    return this.looking;
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.looking = this.looking.then(() => this.look(false));
      void this.looking.then(() => {
        if (!this.isStopped) this.schedule();
      });
    }, POLL_MS);
    this.timer.unref();
  }

  private async look(isAsked: boolean): Promise<void> {
    const found = await this.find();
    const isNews = found.key !== this.judged;
    const isSettled = isAsked || found.key === this.seen;
    this.seen = found.key;
    if (!isAsked && !(isNews && isSettled)) return;
    this.judged = found.key;
    await this.judge(found);
  }

  private async judge(found: Finding): Promise<void> {
    const { digest: before } = this.settings.state;
    if ('problem' in found) this.settings.refuse([found.problem]);
    else await this.settings.offerAnew(found.text);
    const { problems, digest } = this.settings.state;
    const file = path.basename(this.file.path);
    if (problems.length > 0)
      this.log.error(
        `${file} was rejected, and the previous settings stay in effect. ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}: ${problems.join('; ')}`,
      );
    else if (digest === before) this.log.log(`${file} matches the settings in effect`);
    else this.log.log(`${file} has changed and is in effect, sha256 ${digest}`);
  }

  private async find(): Promise<Finding> {
    const { path: file, isNamed } = this.file;
    try {
      const text = await readBounded(file);
      return { key: fileDigestOf(text), text };
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
      // The file was not named and never existed, so the built-in settings apply.
      if (isAbsent && !isNamed && this.settings.state.digest === null) return { key: ABSENT, text: undefined };
      const problem = unreadable(file, error);
      return { key: problem, problem };
    }
  }
}

const ABSENT = 'absent';
const TOO_LARGE = `is larger than ${MAX_BYTES} bytes`;

async function readBounded(file: string): Promise<string> {
  // Without blocking, because opening a pipe waits for its writer, possibly for ever.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error('is not a regular file');
    if (stats.size > MAX_BYTES) throw new Error(TOO_LARGE);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size), 0, stats.size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unreadable(file: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? `${file} ${message}` : `${file} cannot be read (${code})`;
}
