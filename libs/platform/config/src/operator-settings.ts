import { createHash } from 'node:crypto';
import { OperatorConfigError, type OperatorConfig } from './operator-config.js';

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
      this.refuse([`names what this process cannot load: ${String((error as Error).message ?? error)}`]);
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
