import type { DocumentChange } from './changes.js';

/** The operations that CHANGELOG.md names under `## [Unreleased]`, `### Breaking`: `- createRollout, createRollback: what to do`. */
export function notedOperations(changelog: string): Set<string> {
  const unreleased = chapter(changelog, '## [Unreleased]', /^## /);
  const entries = chapter(unreleased, '### Breaking', /^### /).matchAll(/^[-*] ((?:[^:\n]|\n {2})+):/gm);
  return new Set([...entries].flatMap(([, names]) => names!.replaceAll('`', '').split(/,?\s+/)));
}

/** The operations that break without a note. */
export function unnotedOperations(changes: readonly DocumentChange[], changelog: string): string[] {
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
