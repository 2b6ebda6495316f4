import type { Finding } from './criteria.js';

/** A cell's findings, and how often the diagnosis named each cause. */
export interface Row {
  cell: string;
  profile: string;
  case: string;
  findings: Finding[];
  causes: Record<string, number>;
}

export const TABLE_HEAD =
  '| cell | profile | case | finding | value | limit | kept | causes |\n|---|---|---|---|---|---|---|---|\n';

/** A line for each finding of a row. */
export function rowText({ cell, profile, case: name, findings, causes }: Row): string {
  return findings
    .map((finding, index) => {
      const cells = [cell, profile, name, finding.what, valueText(finding), limitText(finding), keptText(finding)];
      return `| ${[...cells, index === 0 ? causesText(causes) : ''].join(' | ')} |\n`;
    })
    .join('');
}

function valueText({ value, of, unit }: Finding): string {
  if (value === null) return '-';
  return unit === '%' ? `${value.toFixed(1)} %` : `${value} of ${of}`;
}

function limitText({ limit, unit }: Finding): string {
  if (!limit) return '';
  return `${limit.kind} ${limit.value}${unit === '%' ? ' %' : ''}`;
}

function keptText({ limit, isKept }: Finding): string {
  if (!limit) return '';
  return isKept ? 'yes' : '**no**';
}

function causesText(causes: Record<string, number>): string {
  return Object.entries(causes)
    .map(([cause, count]) => `${cause} ${count}`)
    .join(', ');
}
