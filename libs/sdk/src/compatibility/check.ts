import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DOCUMENT, findEarlier } from './earlier-document.js';
import { unnotedOperations } from './breaking-notes.js';
import { textOf, type OpenApi } from './document.js';
import { compareDocuments } from './document-comparison.js';
import { report, summary } from './report.js';

export interface CheckResult {
  passed: boolean;
  lines: string[];
}

/** Whether the api still serves all that is committed, and whether CHANGELOG.md tells of what it breaks. */
export function check(root: string, served: OpenApi): CheckResult {
  const verdicts = [compatibility(root, served), freshness(root, served)];
  return { passed: verdicts.every(({ passed }) => passed), lines: verdicts.flatMap(({ lines }) => lines) };
}

/**
 * A document that only lacks what is new passes with a word about it, so that a generated area needs no edit elsewhere. One
 * that says what is no longer true fails.
 */
function freshness(root: string, served: OpenApi): CheckResult {
  const text = read(root, DOCUMENT);
  if (text === textOf(served)) return { passed: true, lines: [] };
  const changes = text === '' ? [] : compareDocuments(JSON.parse(text) as OpenApi, served);
  const isBehind = changes.length > 0 && changes.every(({ kind }) => kind !== 'broken');
  const what = isBehind ? `lacks what is new (${summary(changes)})` : 'is not what the api serves';
  return { passed: isBehind, lines: [`${DOCUMENT} ${what}: \`npm run openapi\` renews it.`] };
}

function compatibility(root: string, served: OpenApi): CheckResult {
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
