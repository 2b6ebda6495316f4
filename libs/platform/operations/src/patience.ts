/** For how long several wait together for a row that somebody holds, in milliseconds. */
export const PATIENCE_MS = 100;

/** Resolves when the work has settled, which never rejects, or when the patience of those behind it is over: then they go, whatever becomes of it. */
export async function settledInTime(work: Promise<void>, withinMs = PATIENCE_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Whether nobody said what became of a commit: an error that Postgres answers with has rolled it back. */
export function isUnanswered(error: unknown): boolean {
  return (error as { severity?: string }).severity !== 'ERROR';
}
