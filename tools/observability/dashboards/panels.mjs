// How a short definition of a dashboard becomes the JSON that Grafana imports.

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const COLUMNS = 24;
const HEIGHT = 8;
/** Of a row's title. */
const TITLE_HEIGHT = 1;

/** A query with its legend. Without a legend, Grafana shows the labels. */
export const query = (expr, legendFormat = '__auto') => ({ expr, legendFormat });

/** A line for each series over time. */
export const lines = (title, unit, description, ...queries) => ({
  type: 'timeseries',
  title,
  unit,
  description,
  queries,
});
/** The same with areas on each other, for parts of a whole. */
export const areas = (...definition) => ({ ...lines(...definition), isStacked: true });
/** The last value, red from `red` on. A value below 1 is bad if `isBadBelow`. */
export const stat = (title, unit, description, expr, red, isBadBelow = false) => ({
  type: 'stat',
  title,
  unit,
  description,
  queries: [query(expr)],
  red,
  isBadBelow,
});

/** A variable whose values Grafana reads from the label of a metric: `metric, label`. */
export const valuesOf = (name, label, metric, more = {}) => ({
  name,
  label,
  type: 'query',
  datasource: DATASOURCE,
  definition: `label_values(${metric})`,
  query: { query: `label_values(${metric})`, refId: 'values' },
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { selected: true, text: ['All'], value: ['$__all'] },
  ...more,
});

/** The JSON that Grafana imports. It has no id, so that an import never replaces a dashboard. */
export function dashboardOf({ title, description, variables = [], rows }) {
  const panels = [];
  let y = 0;
  const add = (panel) => panels.push({ id: panels.length + 1, ...panel });
  for (const [rowTitle, ...definitions] of rows) {
    add({
      type: 'row',
      title: rowTitle,
      collapsed: false,
      gridPos: { h: TITLE_HEIGHT, w: COLUMNS, x: 0, y },
      panels: [],
    });
    y += TITLE_HEIGHT;
    const perLine = definitions.every(({ type }) => type === 'stat') ? 6 : definitions.length % 3 === 0 ? 3 : 2;
    const height = perLine === 6 ? HEIGHT / 2 : HEIGHT;
    for (const [index, definition] of definitions.entries()) {
      const [line, column] = [Math.floor(index / perLine), index % perLine];
      const w = COLUMNS / perLine;
      add({ ...panelOf(definition), gridPos: { h: height, w, x: column * w, y: y + line * height } });
    }
    y += Math.ceil(definitions.length / perLine) * height;
  }
  const datasource = {
    name: 'datasource',
    label: 'Prometheus',
    type: 'datasource',
    query: 'prometheus',
    refresh: 1,
    hide: 0,
    options: [],
  };
  return {
    id: null,
    title,
    description,
    tags: ['slipway'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    links: [
      {
        type: 'dashboards',
        title: 'Slipway',
        tags: ['slipway'],
        asDropdown: true,
        includeVars: false,
        keepTime: true,
        targetBlank: false,
        icon: 'external link',
        tooltip: '',
        url: '',
      },
    ],
    annotations: { list: [] },
    templating: { list: [datasource, ...variables] },
    panels,
  };
}

function panelOf({ type, title, description, unit, queries, isStacked = false, red, isBadBelow }) {
  const steps = isBadBelow
    ? [
        { color: 'red', value: null },
        { color: 'green', value: red },
      ]
    : [{ color: 'green', value: null }, ...(red === undefined ? [] : [{ color: 'red', value: red }])];
  const lineStyle = {
    drawStyle: 'line',
    lineWidth: 1,
    fillOpacity: isStacked ? 30 : 5,
    showPoints: 'never',
    stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
  };
  const isStat = type === 'stat';
  return {
    type,
    title,
    description,
    datasource: DATASOURCE,
    targets: queries.map(({ expr, legendFormat }, index) => ({
      refId: String.fromCodePoint('A'.codePointAt(0) + index),
      datasource: DATASOURCE,
      editorMode: 'code',
      expr,
      legendFormat,
      range: !isStat,
      instant: isStat,
    })),
    fieldConfig: {
      defaults: { unit, thresholds: { mode: 'absolute', steps }, ...(isStat ? {} : { min: 0, custom: lineStyle }) },
      overrides: [],
    },
    options: isStat
      ? {
          reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
          colorMode: 'background',
          graphMode: 'none',
          textMode: 'auto',
        }
      : {
          legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
          tooltip: { mode: 'multi', sort: 'desc' },
        },
  };
}
