import { stripVTControlCharacters } from 'node:util';
import type { Writable } from 'node:stream';
import { widthOf } from './text.js';

const CLEAR_BELOW = '\u001b[J';
const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : '');

/** Writes lines over those that it wrote before. */
export class Redraw {
  private shown: readonly string[] = [];

  constructor(
    private readonly stream: Writable,
    private readonly columns: () => number,
  ) {}

  draw(lines: readonly string[]): void {
    // A terminal that became narrower has broken what was there into more rows.
    const columns = Math.max(1, this.columns());
    const rows = this.shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(lengthOf(line) / columns)), 0);
    // In one piece, so that no half of it is seen.
    this.stream.write(`\r${up(rows)}${CLEAR_BELOW}${lines.map((line) => `${line}\n`).join('')}`);
    this.shown = lines;
  }
}

const lengthOf = (line: string): number => widthOf(stripVTControlCharacters(line));
