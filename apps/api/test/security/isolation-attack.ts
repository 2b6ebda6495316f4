import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What an attacker was answered: how often, by status and error code. */
export type AnswerCounts = Record<string, number>;

export interface AttackDestination {
  /** Ports. */
  api: number;
  gateway: number;
  token: string;
  /** A deployment that serves. */
  model: string;
  sandbox: string;
  /** A sandbox that stands for one elsewhere. */
  external: string;
  /** URL of webhooks. */
  receiver: string;
}

/** The attackers of isolation-attackers.mjs, in a process of their own. */
export class Attack {
  private constructor(
    private readonly child: ChildProcess,
    /** Port of a server that takes everything and never answers. */
    readonly silentPort: number,
  ) {}

  static async start(): Promise<Attack> {
    const child = fork(fileURLToPath(new URL('./isolation-attackers.mjs', import.meta.url)), {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [{ silent }] = (await once(child, 'message')) as [{ silent: number }];
    return new Attack(child, silent);
  }

  /** Begins with what the tenant may, and holds that to the end. */
  aim(target: AttackDestination): void {
    this.child.send({ target });
  }

  /**
   * From now on, until the next turn.
   * @param times of what the tenant may
   * @returns what was answered since the last call, by attacker
   */
  async round(times: number): Promise<Record<string, AnswerCounts>> {
    const answered = once(this.child, 'message') as Promise<[{ counts: Record<string, AnswerCounts> }]>;
    this.child.send({ times });
    return (await answered)[0].counts;
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}
