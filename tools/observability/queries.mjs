// Every expression of deploy/observability, and what each of them selects.
//
//   node tools/observability/queries.mjs                   prints the selected metrics and labels as JSON
//   node tools/observability/queries.mjs --expressions     prints the expressions
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

const FOLDER = fileURLToPath(new URL('../../deploy/observability', import.meta.url));
const read = (name) => readFileSync(path.join(FOLDER, name), 'utf8');

/** Values for the variables of Grafana with which Prometheus can parse an expression. */
const withoutVariables = (text) => text.replaceAll('$__rate_interval', '5m').replaceAll(/\$\{?[a-z]+\}?/g, '.*');

function dashboards() {
  return readdirSync(path.join(FOLDER, 'dashboards')).map((file) => ({
    file,
    dashboard: JSON.parse(read(`dashboards/${file}`)),
  }));
}

function rules() {
  return parse(read('alerts.yaml')).groups.flatMap((group) => group.rules);
}

/** @returns where each expression is, and the expression as Prometheus reads it */
function expressions() {
  const ofRules = rules().map(({ alert, record, expr }) => ({ at: alert ?? record, expr }));
  const ofPanels = dashboards().flatMap(({ file, dashboard }) =>
    dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ at: `${file}: ${title}`, expr: withoutVariables(expr) })),
    ),
  );
  const ofVariables = dashboards().flatMap(({ file, dashboard }) =>
    dashboard.templating.list
      .filter(({ type }) => type === 'query')
      .map(({ name, definition }) => {
        const [, selector, label] = /^label_values\((.+), ([a-z]+)\)$/.exec(definition);
        return { at: `${file}: $${name}`, expr: `count by (${label}) (${withoutVariables(selector)})` };
      }),
  );
  return [...ofRules, ...ofPanels, ...ofVariables];
}

/**
 * Returns the metrics that an expression selects, with the labels in the selector and in the aggregations and joins
 * around it.
 * @throws Error if the expression cannot be parsed
 */
function selectionsOf(expr) {
  const selections = [];
  const textOf = (node) => expr.slice(node.from, node.to);
  parser.parse(expr).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`cannot parse at ${node.from}: ${expr}`);
      if (node.name !== 'VectorSelector') return;
      const labels = new Set();
      const own = node.node;
      own.cursor().iterate((inner) => {
        if (inner.name === 'LabelName' && inner.from >= own.from && inner.to <= own.to) labels.add(textOf(inner));
      });
      for (let above = own.parent; above; above = above.parent)
        for (const label of groupedBy(above, own)) labels.add(label);
      selections.push({ metric: textOf(own.getChild('Identifier')), labels: [...labels] });
    },
  });
  return selections;

  /**
   * Labels that an aggregation keeps, or by which a binary expression joins. Those of `group_left` come from the
   * selectors on its right, and those of `group_right` from the left.
   */
  function groupedBy(node, selector) {
    const found = [];
    for (const child of [node.getChild('AggregateModifier'), node.getChild('MatchingModifierClause')]) {
      const copies = child?.getChild('GroupLeft') ?? child?.getChild('GroupRight');
      const hasCopied = copies?.name === 'GroupLeft' ? selector.from >= child.to : selector.to <= child?.from;
      child?.cursor().iterate((inner) => {
        if (inner.name !== 'LabelName' || inner.from < child.from || inner.to > child.to) return;
        if (!copies || inner.from < copies.from || hasCopied) found.push(textOf(inner));
      });
    }
    return found;
  }
}

/** All selections, by metric. */
function selectedMetrics() {
  const byMetric = new Map();
  for (const { expr } of expressions())
    for (const { metric, labels } of selectionsOf(expr)) {
      const known = byMetric.get(metric) ?? new Set();
      for (const label of labels) known.add(label);
      byMetric.set(metric, known);
    }
  return Object.fromEntries([...byMetric].map(([metric, labels]) => [metric, [...labels].sort()]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const result = process.argv[2] === '--expressions' ? expressions() : selectedMetrics();
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
