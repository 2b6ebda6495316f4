import { createReadStream } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { CliError } from './exit-codes.js';
import type { Session } from './session.js';

/** No body of the api comes near this size. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Reads a body from a file, as JSON or YAML. */
export async function readBody(file: string, session: Session): Promise<unknown> {
  const text = await readText(file, session);
  const { parse } = await import('yaml');
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new CliError(`${file} is neither JSON nor YAML: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** Reads a file, or stdin for `-`. */
export async function readText(file: string, { terminal, cwd }: Session): Promise<string> {
  const input: Readable = file === '-' ? terminal.streams.stdin : createReadStream(path.resolve(cwd, file));
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of input) {
      chunks.push(Buffer.from(chunk as Uint8Array));
      bytes += chunks.at(-1)!.length;
      if (bytes > MOST_BYTES) throw new CliError(`${file} is longer than ${MOST_BYTES} bytes.`);
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
