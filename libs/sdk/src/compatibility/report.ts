import type { DocumentChange, ChangeKind } from './changes.js';

const KINDS: ChangeKind[] = ['added', 'changed', 'broken'];
/** So many operations are named; of a break, all are. */
const NAMED = 4;

/** One line a change, with the operations that share it. */
export function report(changes: readonly DocumentChange[]): string[] {
  return KINDS.flatMap((kind) => {
    const operations = new Map<string, string[]>();
    for (const { what, operation } of changes.filter((change) => change.kind === kind))
      operations.set(what, [...(operations.get(what) ?? []), operation]);
    return [...operations].map(([what, names]) => `  ${kind.padEnd(7)}  ${what} (${listed(names, kind)})`);
  });
}

/** How many of each kind, in words. */
export function summary(changes: readonly DocumentChange[]): string {
  const count = (kind: ChangeKind): number =>
    new Set(changes.filter((one) => one.kind === kind).map(({ what }) => what)).size;
  return KINDS.map((kind) => `${count(kind)} ${kind}`).join(', ');
}

function listed(names: readonly string[], kind: ChangeKind): string {
  if (kind === 'broken' || names.length <= NAMED + 1) return names.join(', ');
  return `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`;
}
