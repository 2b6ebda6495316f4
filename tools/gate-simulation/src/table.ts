import { histogramsOf, type Histograms, type NamedSql, type QueryClient, type StatsWindow } from '@slipway/dataplane';

type Row = Omit<StatsWindow, 'window_start'> & {
  window_start: Date;
  histograms: Partial<Histograms>;
  revisionId: string;
  at: Date;
};

/** Windows as Postgres would return them, including JSON: `statsBetween` and `countsBySecond` read them. */
export class StatsTable {
  private readonly tables = { rows: new Map<string, Row[]>(), counted: new Map<string, Row[]>() };

  add(windows: readonly StatsWindow[]): void {
    for (const window of windows) {
      const at = new Date(window.window_start);
      const histograms = histogramsOf((metric) => window[metric]);
      const row = { ...window, window_start: at, histograms, revisionId: window.revision_id, at };
      this.append(this.tables.rows, row);
      this.append(this.tables.counted, { ...row, histograms: {}, loads: null });
    }
  }

  private append(table: Map<string, Row[]>, row: Row): void {
    const rows = table.get(row.revisionId);
    if (rows) rows.push(row);
    else table.set(row.revisionId, [row]);
  }

  readonly client = this.clientOf('rows');
  /** Without latencies, which take most of the time to merge. */
  readonly counts = this.clientOf('counted');

  private clientOf(what: 'rows' | 'counted'): QueryClient {
    const query = (_sql: NamedSql, [ids, from, to]: unknown[] = []) => {
      const rows = [ids as string | string[]].flat().flatMap((id) => this.tables[what].get(id) ?? []);
      return Promise.resolve(rows.filter(({ at }) => at >= (from as Date) && at < (to as Date)));
    };
    return { query } as QueryClient;
  }
}

export function tableOf(windows: readonly StatsWindow[]): QueryClient {
  const table = new StatsTable();
  table.add(windows);
  return table.client;
}
