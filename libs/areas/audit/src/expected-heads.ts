import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** A head that a chain once had, kept outside the database. */
export interface ExpectedHead {
  /** Id or name. */
  tenant: string;
  sequence: number;
  /** 64 hex digits. */
  hash: string;
}

const HEAD = /(?<![\w.-])([\w.-]+):(\d{1,15}):([0-9a-f]{64})(?![0-9a-f])/g;

/** Returns `<tenant>:<sequence>:<hash>`, the form of a head in every anchor. */
export function headText({ tenant, sequence, hash }: ExpectedHead): string {
  return `${tenant}:${sequence}:${hash}`;
}

/** Returns all heads in a text, whatever surrounds them: an anchor file, lines of the log, output of the command. */
export function headsIn(text: string): ExpectedHead[] {
  return [...text.matchAll(HEAD)].map(([, tenant, sequence, hash]) => ({
    tenant: tenant as string,
    sequence: Number(sequence),
    hash: hash as string,
  }));
}

/** Returns the heads in a file, each once. @throws Error if the file cannot be read */
export async function headsInFile(path: string): Promise<ExpectedHead[]> {
  const heads = new Map<string, ExpectedHead>();
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
    for (const head of headsIn(line)) heads.set(headText(head), head);
  return [...heads.values()];
}
