import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DOCUMENT, findEarlier } from './earlier-document.js';
import { textOf, type OpenApi, type DocumentChange, type ChangeKind } from './document.js';
import { compareDocuments } from './document-comparison.js';

/** The operations that CHANGELOG.md names under `## [Unreleased]`, `### Breaking`: `- createRollout, createRollback: what to do`. */
export function notedOperations(changelog: string): Set<string> {
  const unreleased = chapter(changelog, '## [Unreleased]', /^## /);
  const entries = chapter(unreleased, '### Breaking', /^### /).matchAll(/^[-*] ((?:[^:\n]|\n {2})+):/gm);
  return new Set([...entries].flatMap(([, names]) => names!.replaceAll('`', '').split(/,?\s+/)));
}

/** Returns the operations that break without a note. */
function unnotedOperations(changes: readonly DocumentChange[], changelog: string): string[] {
  const noted = notedOperations(changelog);
  const broken = changes.filter(({ kind }) => kind === 'broken').map(({ operation }) => operation);
  return [...new Set(broken)].filter((operation) => !noted.has(operation)).sort();
}

function chapter(text: string, title: string, next: RegExp): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.trim() === title);
  if (start < 0) return '';
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => next.test(line));
  return rest.slice(0, end < 0 ? undefined : end).join('\n');
}

const KINDS: ChangeKind[] = ['added', 'changed', 'broken'];
/** At most this many operations are named; of a break, all are. */
const NAMED = 4;

/** Returns one line for each change, with the operations that share it. */
function report(changes: readonly DocumentChange[]): string[] {
  return KINDS.flatMap((kind) => {
    const operations = new Map<string, string[]>();
    for (const { what, operation } of changes.filter((change) => change.kind === kind))
      operations.set(what, [...(operations.get(what) ?? []), operation]);
    return [...operations].map(([what, names]) => `  ${kind.padEnd(7)}  ${what} (${listed(names, kind)})`);
  });
}

/** Returns the number of changes of each kind, in words. */
function summary(changes: readonly DocumentChange[]): string {
  const count = (kind: ChangeKind): number =>
    new Set(changes.filter((one) => one.kind === kind).map(({ what }) => what)).size;
  return KINDS.map((kind) => `${count(kind)} ${kind}`).join(', ');
}

function listed(names: readonly string[], kind: ChangeKind): string {
  if (kind === 'broken' || names.length <= NAMED + 1) return names.join(', ');
  return `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`;
}

export interface CheckResult {
  passed: boolean;
  lines: string[];
}

/** Checks whether the api still serves everything that is committed, and whether CHANGELOG.md notes what it breaks. */
export function check(root: string, served: OpenApi): CheckResult {
  const verdicts = [compatibility(root, served), freshness(root, served)];
  return { passed: verdicts.every(({ passed }) => passed), lines: verdicts.flatMap(({ lines }) => lines) };
}

/**
 * A document that only lacks new parts passes with a message, so that a generated area needs no edit elsewhere. A
 * document with statements that are no longer true fails.
 */
function freshness(root: string, served: OpenApi): CheckResult {
  const text = read(root, DOCUMENT);
  if (text === textOf(served)) return { passed: true, lines: [] };
  const changes = text === '' ? [] : compareDocuments(JSON.parse(text) as OpenApi, served);
  const isBehind = changes.length > 0 && changes.every(({ kind }) => kind !== 'broken');
  const what = isBehind ? `lacks new parts of the api (${summary(changes)})` : 'does not match the api';
  return { passed: isBehind, lines: [`${DOCUMENT} ${what}. Run \`npm run openapi\` to update it.`] };
}

function compatibility(root: string, served: OpenApi): CheckResult {
  const earlier = findEarlier(root, served);
  if ('missing' in earlier) return { passed: true, lines: [`Skipped the comparison with main: ${earlier.missing}.`] };
  const changes = compareDocuments(earlier.document, served);
  const lines = [`Compared with ${earlier.name}: ${summary(changes)}.`, ...report(changes)];
  const unnoted = unnotedOperations(changes, read(root, 'CHANGELOG.md'));
  if (unnoted.length === 0) return { passed: true, lines };
  lines.push(
    'A breaking change needs a note for users. Add it to CHANGELOG.md, under `## [Unreleased]` and `### Breaking`:',
    `- ${unnoted.join(', ')}: what changed, and what clients must do`,
  );
  return { passed: false, lines };
}

function read(root: string, file: string): string {
  const at = path.join(root, file);
  return existsSync(at) ? readFileSync(at, 'utf8') : '';
}
