import { CliError } from './exit-codes.js';
import { Table, tableLines, textOf, valueAt, wrapped, type Column, type View } from './table.js';
import { harmless, painted, type Terminal } from './terminal.js';

/** A filter may produce results without end. */
const MAX_RESULTS = 100_000;

/** A missing value inside a result is null too, as in jq. */
const nullFor = (_key: string, value: unknown): unknown => value ?? null;

const JQ_HINT = 'For features that only jq has, use jq itself: slipway … -o json | jq …';
const LIST_HINT = 'A list is an array without data or items around it, such as .[].name.';

/** The results of a jq filter, one per line: text unquoted, everything else as JSON. */
async function jqLines(filter: string, value: unknown): Promise<string[]> {
  const { compileFilter } = await import('./jq-filter.js');
  const lines: string[] = [];
  try {
    for (const result of compileFilter(filter)(value)) {
      if (lines.length === MAX_RESULTS) throw new Error(`more than ${MAX_RESULTS} results`);
      lines.push(typeof result === 'string' ? result : (JSON.stringify(result, nullFor) ?? 'null'));
    }
  } catch (error) {
    // The interpreter throws texts too.
    const message = `--jq: ${error instanceof Error ? error.message : String(error)}`;
    // As in the answer of the api and of kubectl.
    const isOfPage = Array.isArray(value) && /^\s*\.(?:data|items)\b/.test(filter);
    throw new CliError(message, undefined, isOfPage ? LIST_HINT : JQ_HINT);
  }
  return lines;
}

export const FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type Format = (typeof FORMATS)[number];

export interface OutputFlags {
  output?: Format;
  /** Names of fields, separated by commas. */
  json?: string;
  /** A filter in jq's language. */
  jq?: string;
}

/** Writes data to stdout in the requested form, and everything else to stderr. */
export class Output {
  constructor(
    private readonly terminal: Terminal,
    private readonly flags: () => OutputFlags,
  ) {}

  get format(): Format {
    const { output, json, jq } = this.flags();
    if (jq !== undefined && (output ?? 'json') !== 'json')
      throw new CliError('--jq filters JSON. Omit -o, or set it to json.');
    return output ?? (json === undefined && jq === undefined ? 'table' : 'json');
  }

  /** Prints an array as a list, and everything else as one item. */
  async print(value: unknown, view: View): Promise<void> {
    const chosen = this.chosen(value);
    this.warnOfUnknown(listOf(value));
    switch (this.format) {
      case 'json':
        await this.json(chosen, 2);
        return;
      case 'yaml':
        this.document((await import('yaml')).stringify(chosen).trimEnd());
        return;
      case 'name':
        for (const row of listOf(value)) this.data(textOf(valueAt(row, view.name)));
        return;
      default:
        this.table(value, view);
    }
  }

  /** Prints rows while they arrive: for programs, one object per line; for people, a table with its titles once. */
  rowsOf(view: View & { line?: (row: never) => string }): (...rows: unknown[]) => Promise<void> {
    let table: Table | undefined;
    return async (...rows) => {
      const { format } = this;
      if (format === 'json') for (const row of rows) await this.json(this.chosen(row));
      else if (format === 'yaml') for (const row of rows) await this.yaml(row);
      else if (format === 'name') for (const row of rows) this.data(textOf(valueAt(row, view.name)));
      else if (view.line) for (const row of rows) this.data(harmless(view.line(row as never)));
      else if (rows.length > 0) {
        const isFirst = table === undefined;
        table ??= new Table(this.columnsOf(view, { isList: true }), { ...this.look, isStream: true });
        for (const line of table.lines(rows)) this.data(line);
        if (isFirst) this.tellHidden(table);
      }
    };
  }

  /** Prints a line of data unchanged. */
  data(line: string): void {
    this.terminal.streams.stdout.write(`${line}\n`);
  }

  note(line: string): void {
    this.terminal.streams.stderr.write(`${line}\n`);
  }

  warn(line: string): void {
    const title = this.terminal.hasColour('stderr') ? painted('Warning:', 'yellow') : 'Warning:';
    this.note(`${title} ${harmless(line)}`);
  }

  private async json(chosen: unknown, indent?: number): Promise<void> {
    const { jq } = this.flags();
    if (jq === undefined) this.document(JSON.stringify(chosen, null, indent));
    else for (const line of await jqLines(jq, chosen)) this.document(line);
  }

  /** Prints everything for programs. A terminal does not get what it would interpret as commands. */
  private document(text: string): void {
    this.data(this.terminal.isTerminal('stdout') ? text.split('\n').map(harmless).join('\n') : text);
  }

  private async yaml(row: unknown): Promise<void> {
    this.document(`---\n${(await import('yaml')).stringify(this.chosen(row)).trimEnd()}`);
  }

  private table(value: unknown, view: View): void {
    const isList = Array.isArray(value);
    const rows = listOf(value);
    const columns = this.columnsOf(view, { isList });
    if (rows.length === 0) this.note('No results.');
    else if (isList) {
      const table = new Table(columns, this.look);
      for (const line of table.lines(rows)) this.data(line);
      this.tellHidden(table);
    } else {
      const lines = view.lines?.(value as never, this.look) ?? tableLines(rows, columns, { ...this.look, isList });
      for (const line of lines) this.data(line);
    }
  }

  private columnsOf({ columns }: View, { isList }: { isList: boolean }): Column[] {
    const hasWide = !isList || this.format === 'wide';
    return columns.filter(({ isWide, isOfList }) => (hasWide || !isWide) && (isList || !isOfList));
  }

  private get look() {
    const { terminal } = this;
    const most = this.format === 'wide' ? undefined : terminal.columnsOf('stdout');
    return { ...(most !== undefined && { most }), ...(terminal.hasColour('stdout') && { paint: painted }) };
  }

  private tellHidden({ hidden }: Table): void {
    if (hidden.length === 0) return;
    const said = `The terminal is too narrow for ${hidden.join(', ')}. To see all columns: -o wide`;
    for (const line of wrapped(said, this.terminal.columnsOf('stderr') ?? Infinity)) this.note(line);
  }

  private get fields(): string[] {
    const { json } = this.flags();
    return json === undefined ? [] : json.split(',').map((field) => field.trim());
  }

  /** Returns only the fields of `--json`. */
  private chosen(value: unknown): unknown {
    const { fields } = this;
    if (fields.length === 0) return value;
    if (fields.includes('')) throw new CliError('--json takes field names separated by commas, such as id,status');
    const pick = (row: unknown) => Object.fromEntries(fields.map((field) => [field, valueAt(row, field) ?? null]));
    return Array.isArray(value) ? value.map(pick) : pick(value);
  }

  /** Warns of a field that no row has, because it may not exist. */
  private warnOfUnknown(rows: readonly unknown[]): void {
    const known = new Set(rows.flatMap(membersOf));
    const unknown = this.fields.filter((field) => rows.every((row) => valueAt(row, field) === undefined));
    if (known.size > 0 && unknown.length > 0)
      this.warn(`No such field: ${unknown.join(', ')}. Available fields: ${[...known].join(', ')}`);
  }
}

const membersOf = (row: unknown): string[] => (typeof row === 'object' && row !== null ? Object.keys(row) : []);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
