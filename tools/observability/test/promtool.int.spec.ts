import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { stringify } from 'yaml';
import { ALERTS, alerts, cases, nodeOutput, ROOT, rules, yaml } from './rules.js';

// promtool evaluates a whole day, which takes minutes.
jest.setTimeout(600_000);

/** Debian's package `prometheus` has it. */
const hasPromtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0;
const promtoolIt = hasPromtool ? it : it.skip;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-rules-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the output of a failure, and an empty text if promtool is content. */
function promtool(command: 'check' | 'test', ...contents: object[]): string {
  const files = contents.map((content, index) => write(`${command}-${index}`, content));
  const { status, stdout, stderr } = spawnSync('promtool', [command, 'rules', ...files], { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

function write(name: string, content: object): string {
  const file = path.join(folder, `${name}.yaml`);
  writeFileSync(file, stringify(content));
  return file;
}

/** A file of tests with one test: series, and what the rules make of them. */
const testOf = (ruleFile: string, series: Record<string, string>, expected: object) => ({
  rule_files: [ruleFile],
  evaluation_interval: '1m',
  tests: [
    {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      ...expected,
    },
  ],
});

promtoolIt('each fires with its labels and its text, and ends', () => {
  const records = rules.filter(({ record }) => record !== undefined);
  const tests = alerts.map((rule) => {
    const { alert, labels, annotations } = rule;
    const { series, fires, ends, labels: own, summary } = cases[alert]!;
    const firing = { exp_labels: { ...labels, ...own }, exp_annotations: { ...annotations, summary } };
    // Alone, because promtool evaluates every rule of its file once for each minute of the case.
    const file = write(alert, { groups: [{ name: alert, rules: [...records, rule] }] });
    return testOf(file, series, {
      alert_rule_test: [
        { alertname: alert, eval_time: fires, exp_alerts: [firing] },
        { alertname: alert, eval_time: ends, exp_alerts: [] },
      ],
    });
  });
  expect(promtool('test', ...tests)).toBe('');
});

promtoolIt('none fires in an ordinary day with a replacement of each process, a rollout and a quiet night', () => {
  const { series, until } = yaml(path.join(import.meta.dirname, 'ordinary-day.yaml')) as {
    series: Record<string, string>;
    until: string;
  };
  const named = new Set(Object.keys(series).map((one) => one.replace(/\{.*/, '')));
  expect(metricsOf(alerts.map(({ expr }) => expr)).filter((metric) => !named.has(metric))).toEqual([]);
  const firing = { expr: 'sum by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1d]))', eval_time: until };
  // Alerts were really pending, so the day is not empty.
  const pending = { expr: 'count(count_over_time(ALERTS{alertstate="pending"}[1d])) > bool 9', eval_time: until };
  const expected = [
    { ...firing, exp_samples: [] },
    { ...pending, exp_samples: [{ labels: '{}', value: 1 }] },
  ];
  expect(promtool('test', testOf(ALERTS, series, { promql_expr_test: expected }))).toBe('');
});

promtoolIt('promtool parses each of dashboards and their variables, and the rule files', () => {
  const expressions = JSON.parse(nodeOutput('queries.mjs', '--expressions')) as { at: string; expr: string }[];
  expect(expressions.length).toBeGreaterThan(100);
  const rows = expressions.map(({ expr }, index) => ({ record: `slipway:expression_${index}`, expr }));
  expect(promtool('check', { groups: [{ name: 'all', rules: rows }] })).toBe('');
  expect(promtool('check', yaml(ALERTS) as object)).toBe('');
  const operator = yaml(path.join(ROOT, 'deploy/observability/prometheus-rule.yaml')) as { spec: object };
  expect(promtool('check', operator.spec)).toBe('');
});

promtoolIt('promtool refuses a wrong one', () => {
  expect(promtool('check', { groups: [{ name: 'all', rules: [{ record: 'a:b', expr: 'sum(rate(x))' }] }] })).toMatch(
    /expected type range vector/,
  );
});

/** Without the results of recording rules, and without what Prometheus adds. */
function metricsOf(expressions: readonly string[]): string[] {
  const names = expressions.flatMap((expr) => [...expr.matchAll(/\b((?:slipway|process|nodejs)_[a-z0-9_]+)\b/g)]);
  return [...new Set(names.map(([, name]) => name as string))];
}
