import type { Operation, OperationStep } from '@slipway/sdk';

/** The parts of an operation that the narrator shows. */
export type OperationProgress = Pick<Operation, 'id' | 'status' | 'progress' | 'current_step'> & {
  steps: Pick<OperationStep, 'name' | 'status' | 'message'>[];
};

export interface Terminal {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const BAR_WIDTH = 24;

/**
 * Shows the progress of the demo: a moving bar on a terminal, otherwise a plain line for each change (in a file or a
 * pipeline).
 */
export class Narrator {
  private isLineOpen = false;
  private lastPassing = '';
  private readonly toldSteps = new Set<string>();

  constructor(private readonly out: Terminal) {}

  heading(text: string): void {
    this.line(`\n${this.bold(text)}`);
  }

  line(text: string): void {
    this.closeLine();
    this.out.write(`${text}\n`);
  }

  /**
   * On a terminal, a line that the next one replaces. Otherwise the text is written once, without the detail, until it
   * changes.
   */
  passing(text: string, detail = ''): void {
    if (this.out.isTTY) return this.redraw(text + detail);
    if (text !== this.lastPassing) this.line(text);
    this.lastPassing = text;
  }

  operation(operation: OperationProgress): void {
    const width = Math.max(0, ...operation.steps.map((step) => step.name.length));
    for (const step of operation.steps) {
      const isTold = this.toldSteps.has(`${operation.id} ${step.name}`);
      if (isTold || !['succeeded', 'failed', 'skipped'].includes(step.status)) continue;
      this.toldSteps.add(`${operation.id} ${step.name}`);
      this.line(
        `  ${step.status === 'failed' ? '✗' : '✓'} ${step.name.padEnd(width)}  ${step.status === 'succeeded' ? step.message : step.status}`.trimEnd(),
      );
    }
    if (!this.out.isTTY) return;
    if (operation.progress >= 100 || operation.status === 'succeeded') this.closeLine();
    else
      this.redraw(
        `  ${bar(operation.progress)} ${String(operation.progress).padStart(3)} %  ${operation.current_step}`,
      );
  }

  private redraw(text: string): void {
    // Cut to the width, because a wrapped line cannot be replaced.
    this.out.write(`\r\u001b[2K${text.slice(0, Math.max(20, (this.out.columns || 80) - 1))}`);
    this.isLineOpen = true;
  }

  private closeLine(): void {
    if (this.isLineOpen) this.out.write('\r\u001b[2K');
    this.isLineOpen = false;
  }

  private bold(text: string): string {
    return this.out.isTTY ? `\u001b[1m${text}\u001b[0m` : text;
  }
}

export function bar(percent: number): string {
  const filled = Math.round((Math.min(100, Math.max(0, percent)) / 100) * BAR_WIDTH);
  return `[${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}]`;
}
