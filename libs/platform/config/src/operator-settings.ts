import { createHash } from 'node:crypto';
import { constants, existsSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { type OperatorConfig, OperatorConfigError } from './operator-config.js';

/** How the operator's file stands in this process. */
export interface OperatorFileState {
  /** SHA-256 of the file that holds, in hex as `sha256sum` prints it; null while none does, so that only what is built in holds. */
  digest: string | null;
  /** When it began to hold, by this process's clock; for people. */
  loadedAt: Date;
  /** What is wrong with the file as it is now; empty while it holds. */
  problems: readonly string[];
}

/** Makes ready for other settings and returns what then makes them hold, which must not fail. Throws to refuse them whole. */
export type SettingsPreparation = (next: OperatorConfig) => () => void;

/**
 * The operator's settings as they hold now. They change while the process runs, so read a key where you use it, and keep no copy; who
 * has to make something of them follows.
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
   * @param parse reads the file's text, undefined where there is none
   * @param fetchCode what `parse` needs for a text, where it may lack something
   * @throws OperatorConfigError
   */
  static of(
    parse: (text: string | undefined) => OperatorConfig,
    text: string | undefined,
    fetchCode: (text: string | undefined) => Promise<void> = async () => undefined,
  ): OperatorSettings {
    return new OperatorSettings(parse, fetchCode, parse(text), holding(text));
  }

  /** Settings that no file stands behind, as tests have them. */
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

  get state(): OperatorFileState {
    return this.stands;
  }

  /** Prepares for the settings that hold now, and again before others do. @throws what `prepare` does now */
  follow(prepare: SettingsPreparation): void {
    prepare(this)();
    this.preparations.push(prepare);
  }

  /** Like `offer`, for a text that may name what this process has not needed yet. */
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

  /** Takes the text of the file whole, or refuses it whole and keeps what held. @returns what is wrong with it */
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

  /** For a file that cannot even be read. */
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

/** Far beyond any real one; what is larger is another file by mistake. */
const MAX_BYTES = 2 ** 20;
/** Asked and not told: what watches a file loses sight of one that a symbolic link stands for, as Kubernetes swaps them. */
const POLL_MS = 500;

/** Where the operator's settings are written. */
export interface OperatorFile {
  /** Absolute. */
  path: string;
  /** Whether it was asked for by name, and so has to be there. */
  isNamed: boolean;
}

/** For whoever runs a process: what became of a file that changed. */
export interface FileLog {
  log(message: string): void;
  error(message: string): void;
}

/** What a look at the file found. `key` tells two findings apart. */
type Finding = { key: string } & ({ text: string | undefined } | { problem: string });

export function operatorFileOf(configured: string | undefined, cwd: string): OperatorFile {
  return { path: path.resolve(cwd, configured ?? 'slipway.config.yaml'), isNamed: configured !== undefined };
}

/**
 * At boot. Also from what is no file, such as a pipe, which then cannot be read again.
 * @returns undefined where there is none and none has to be
 * @throws Error telling why it cannot be read
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
 * Brings changes of the operator's file to its settings: half a second apart it is read, and taken when two looks found the same, so
 * that a file is not taken while it is being written. A file that is faulty or gone changes nothing but the state, until it is mended.
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

  /** Does nothing for what cannot be read twice. */
  start(): void {
    if (statSync(this.file.path, { throwIfNoEntry: false })?.isFile() === false) return;
    this.schedule();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.looking;
  }

  /** Reads the file now, and says what came of it also where nothing changed. */
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
      // Nobody named it, and it was never there: what is built in holds.
      if (isAbsent && !isNamed && this.settings.state.digest === null) return { key: ABSENT, text: undefined };
      const problem = unreadable(file, error);
      return { key: problem, problem };
    }
  }
}

const ABSENT = 'absent';
const TOO_LARGE = `is larger than ${MAX_BYTES} bytes`;

async function readBounded(file: string): Promise<string> {
  // Without waiting: whoever opens a pipe waits for its writer, for ever.
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
