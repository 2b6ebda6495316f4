export interface Target {
  name: string;
  max: number;
  atoms: readonly string[];
  files: readonly string[];
  /** Reads a whole text, or else `open` makes a parser of a stream. */
  run?(text: string): unknown;
  open?(): { push(bytes: Buffer): unknown; end?(): unknown };
  /** Whether an error is an answer of the parser. */
  refuses?(error: unknown): boolean;
}
export const TARGETS: readonly Target[];
