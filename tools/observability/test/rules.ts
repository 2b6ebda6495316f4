import { readFileSync } from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';

export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}
export interface AlertCase {
  series: Record<string, string>;
  fires: string;
  ends: string;
  labels?: Record<string, string>;
  summary: string;
}

export const ROOT = path.resolve(import.meta.dirname, '../../..');
export const ALERTS = path.join(ROOT, 'deploy/observability/alerts.yaml');
export const yaml = (file: string): unknown => parse(readFileSync(file, 'utf8'));
export const rules = (yaml(ALERTS) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
export const alerts = rules.filter(({ alert }) => alert !== undefined) as (Rule & { alert: string })[];
export const cases = yaml(path.join(import.meta.dirname, 'alert-cases.yaml')) as Record<string, AlertCase>;

/** Runs a program of tools/observability. */
export function nodeOutput(script: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'tools/observability', script), ...args],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
