import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Position {
  h: number;
  w: number;
  x: number;
  y: number;
}
interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: Position;
  datasource?: { type: string; uid: string };
  targets?: { refId: string; expr: string; datasource: { uid: string } }[];
  fieldConfig?: { defaults: { unit: string } };
}
interface Dashboard {
  id: null;
  uid?: string;
  title: string;
  tags: string[];
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: unknown; datasource?: { uid: string } }[] };
}

const FOLDER = path.resolve(import.meta.dirname, '../../../deploy/observability/dashboards');
const dashboards = readdirSync(FOLDER).map((file): [string, Dashboard] => [
  file,
  JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Dashboard,
]);
const COLUMNS = 24;
/** Ids of units that Grafana documents. */
const UNITS = new Set(['short', 's', 'ms', 'bytes', 'reqps', 'percentunit', 'dateTimeFromNow']);

it('there is a dashboard for each subject, with a title of its own', () => {
  expect(dashboards.map(([file]) => file)).toEqual(
    ['database', 'deployments', 'gateway', 'operations', 'overview', 'targets'].map((name) => `${name}.json`),
  );
  expect(new Set(dashboards.map(([, { title }]) => title)).size).toBe(dashboards.length);
});

describe.each(dashboards)('%s', (_file, { id, uid, tags, panels, templating, schemaVersion }) => {
  const charts = panels.filter(({ type }) => type !== 'row');

  it('can be imported anywhere: it names no datasource and no id', () => {
    expect([id, uid, tags]).toEqual([null, undefined, ['slipway']]);
    expect(schemaVersion).toBeGreaterThan(36);
    const [first, ...others] = templating.list;
    expect(first).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    const uses = [
      ...charts.flatMap(({ datasource, targets = [] }) => [datasource, ...targets.map((target) => target.datasource)]),
      ...others.map(({ datasource }) => datasource),
    ];
    expect(uses.filter((use) => use?.uid !== '${datasource}')).toEqual([]);
  });

  it('each panel has a title, a description, a unit and queries', () => {
    for (const { title, description, fieldConfig, targets, type } of charts) {
      expect([title, (description ?? '').length > 5, UNITS.has(fieldConfig?.defaults.unit ?? '')]).toEqual([
        title,
        true,
        true,
      ]);
      expect(['timeseries', 'stat']).toContain(type);
      expect(targets?.map(({ refId }) => refId)).toEqual(['A', 'B', 'C', 'D'].slice(0, targets?.length));
      expect(targets?.length).toBeGreaterThan(0);
    }
  });

  it('panels have ids of their own, and lie within the grid without overlaps', () => {
    expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x < 0 || x + w > COLUMNS)).toEqual([]);
  });

  it('every variable is declared, and every declared one is used', () => {
    const text = JSON.stringify([charts, templating.list.map(({ query }) => query)]);
    // `$__rate_interval` is Grafana's own, and `$` also ends an expression of a legend.
    const used = new Set([...text.matchAll(/\$\{?([a-z]+)/g)].map(([, name]) => name));
    expect([...used].sort()).toEqual(templating.list.map(({ name }) => name).sort());
  });
});
