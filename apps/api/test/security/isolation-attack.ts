import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** An attacker's answers: the counts by status and error code. */
export type AnswerCounts = Record<string, number>;

export interface AttackDestination {
  /** Port numbers. */
  api: number;
  gateway: number;
  token: string;
  /** A deployment that serves. */
  model: string;
  sandbox: string;
  /** A sandbox that references one elsewhere. */
  external: string;
  /** URL of webhooks. */
  receiver: string;
}

/** The attackers of isolation-attackers.mjs, in a separate process. */
export class Attack {
  private constructor(
    private readonly child: ChildProcess,
    /** Port of a server that accepts everything and never answers. */
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

  /** Begins with the tenant's allowed load, and keeps that up to the end. */
  aim(target: AttackDestination): void {
    this.child.send({ target });
  }

  /**
   * Changes the load until the next call.
   * @param times factor of the allowed load
   * @returns the answers since the last call, by attacker
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
