const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes as people read it: `1.5 MiB`. */
export function bytesText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}

/** `512 MiB`, `2G` or `1000000` as bytes; undefined where it is none of them. */
export function bytesOf(text: string): number | undefined {
  const [, amount, letter = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*$/i.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Math.round(Number(amount) * 1024 ** ['', 'k', 'm', 'g', 't'].indexOf(letter.toLowerCase()));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

/** Where a file goes, in the spelling that the api takes: no slash at the ends, none twice. */
export function pathIn(folder: string, name: string): string {
  return [...folder.split('/'), name].filter((part) => part !== '').join('/');
}

export interface WorkspaceCapacity {
  /** Bytes left in the workspace. */
  left: number;
  limit: number;
}

/** Why a file cannot be sent, before it is; the api has the last word. */
export function objectionTo(
  file: { name: string; size: number },
  { left, limit }: WorkspaceCapacity,
): string | undefined {
  if (file.size > limit)
    return `The file has ${bytesText(file.size)}. The workspace can store at most ${bytesText(limit)}.`;
  if (file.size > left) return `The file has ${bytesText(file.size)}. The workspace has ${bytesText(left)} left.`;
  return undefined;
}
