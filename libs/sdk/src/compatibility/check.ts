import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DOCUMENT, findEarlier } from './earlier-document.js';
import { unnotedOperations } from './breaking-notes.js';
import { textOf, type OpenApi } from './document.js';
import { compareDocuments } from './document-comparison.js';
import { report, summary } from './report.js';

export interface Verdict {
  passed: boolean;
  lines: string[];
}

/** Whether the committed document is what the api serves, and whether CHANGELOG.md tells of what it breaks. */
export function check(root: string, served: OpenApi): Verdict {
  const stale = staleness(root, served);
  const { passed, lines } = compatibility(root, served);
  return { passed: passed && stale.length === 0, lines: [...lines, ...stale] };
}

function staleness(root: string, served: OpenApi): string[] {
  const committed = read(root, DOCUMENT);
  if (committed === textOf(served)) return [];
  return [`${DOCUMENT} is not what the api serves: \`npm run openapi\` renews it.`];
}

function compatibility(root: string, served: OpenApi): Verdict {
  const earlier = findEarlier(root, served);
  if ('missing' in earlier) return { passed: true, lines: [`Skipped the comparison with main: ${earlier.missing}.`] };
  const changes = compareDocuments(earlier.document, served);
  const lines = [`Against ${earlier.name}: ${summary(changes)}.`, ...report(changes)];
  const unnoted = unnotedOperations(changes, read(root, 'CHANGELOG.md'));
  if (unnoted.length === 0) return { passed: true, lines };
  lines.push(
    'A break needs a note for those who use it. In CHANGELOG.md, under `## [Unreleased]` and `### Breaking`:',
    `- ${unnoted.join(', ')}: what changed, and what a client does instead`,
  );
  return { passed: false, lines };
}

function read(root: string, file: string): string {
  const at = path.join(root, file);
  return existsSync(at) ? readFileSync(at, 'utf8') : '';
}
