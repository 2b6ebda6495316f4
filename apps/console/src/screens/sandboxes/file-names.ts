const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a number of bytes for people: `1.5 MiB`. */
export function bytesText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}

/** Parses `512 MiB`, `2G` or `1000000` as bytes; undefined if it is none of them. */
export function bytesOf(text: string): number | undefined {
  const [, amount, letter = ''] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Math.round(Number(amount) * 1024 ** ['', 'k', 'm', 'g', 't'].indexOf(letter.toLowerCase()));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

/** Returns the path of a file in the spelling that the api accepts: no slash at the ends, and no double slash. */
export function pathIn(folder: string, name: string): string {
  return [...folder.split('/'), name].filter((part) => part !== '').join('/');
}

export interface WorkspaceCapacity {
  /** Bytes left in the workspace. */
  left: number;
  limit: number;
}

/** Returns why a file cannot be sent, before it is sent; the api decides finally. */
export function objectionTo(
  file: { name: string; size: number },
  { left, limit }: WorkspaceCapacity,
): string | undefined {
  if (file.size > limit)
    return `The file has ${bytesText(file.size)}. The workspace can store at most ${bytesText(limit)}.`;
  if (file.size > left) return `The file has ${bytesText(file.size)}. The workspace has ${bytesText(left)} left.`;
  return undefined;
}
