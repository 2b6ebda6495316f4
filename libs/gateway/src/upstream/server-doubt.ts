/** One request to the server. Resolves to whether it answered within the time; never rejects. */
export type ServerProbe = (limitMs: number) => Promise<boolean>;

/** A busy engine may need longer for an answer, so one missed probe proves nothing. */
const PROBE_MS = 1_000;
const MISSES = 2;
const ALIVE_PAUSE_MS = 1_000;
const DEAD_PAUSE_MS = 2_000;

/**
 * The gateway's own evidence about a server that the control plane doubts: a node that no longer reports to its cluster,
 * or a worker that gets no answers, may itself be the fault. The server is probed until the doubt ends; a good answer to
 * a request counts as a probe.
 */
export class ServerDoubt {
  evidence: 'unknown' | 'alive' | 'dead' = 'unknown';
  private misses = 0;
  private isConfirmed = false;
  private isOver = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly probe: ServerProbe,
    private readonly onChange: () => void,
  ) {
    void this.check();
  }

  /** A request got a good answer. */
  confirm(): void {
    this.isConfirmed = true;
    this.note(true);
  }

  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private async check(): Promise<void> {
    const isConfirmed = this.isConfirmed;
    this.isConfirmed = false;
    const isAlive = isConfirmed || (await this.probe(PROBE_MS));
    if (this.isOver) return;
    this.note(isAlive);
    const isUndecided = this.misses > 0 && this.misses < MISSES;
    const pauseMs = isUndecided ? 0 : this.evidence === 'dead' ? DEAD_PAUSE_MS : ALIVE_PAUSE_MS;
    this.timer = setTimeout(() => void this.check(), pauseMs).unref();
  }

  private note(isAlive: boolean): void {
    this.misses = isAlive ? 0 : this.misses + 1;
    const evidence = isAlive ? 'alive' : this.misses >= MISSES ? 'dead' : this.evidence;
    if (this.isOver || evidence === this.evidence) return;
    this.evidence = evidence;
    this.onChange();
  }
}
