import type { Finding } from './benchmarks.js';

/** The findings as one Markdown table. */
export function table(findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ name, ours, limit, ratio, notes }) => `| ${name} | ${ours} | ${limit} | ${ratio} | ${notes} |`,
  );
  return ['| benchmark | ours | limit | ratio | notes |', '|---|---|---|---|---|', ...lines, ''].join('\n');
}
