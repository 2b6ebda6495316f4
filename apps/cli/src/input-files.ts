import { createReadStream, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { CliError, EXIT } from './exit-codes.js';
import type { Session } from './session.js';

/** No body of the api comes near this size. */
const MOST_BYTES = 8 * 1024 * 1024;

const READ_FAULTS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'you may not read it',
};

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

/**
 * The files of a folder that can have bodies, by their names, or the file itself.
 * @throws CliError for a folder without such files
 */
export function filesOf(given: string, { cwd }: Session): string[] {
  const folder = path.resolve(cwd, given);
  if (given === '-' || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [given];
  const names = readdirSync(folder).filter((name) => /\.(?:ya?ml|json)$/i.test(name));
  if (names.length === 0) throw new CliError(`The folder ${given} has no file that ends in .yaml, .yml or .json.`);
  return names.sort().map((name) => path.join(given, name));
}

/** Reads a file, or stdin for `-`. */
export async function readText(file: string, { terminal, cwd }: Session): Promise<string> {
  if (/^https?:\/\//.test(file))
    throw new CliError(
      `${file} is an address, not a file.`,
      EXIT.failed,
      `Read it into stdin: curl -fsSL ${file} | slipway … -f -`,
    );
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
    const { code, message } = error as NodeJS.ErrnoException;
    const why = READ_FAULTS[code ?? ''] ?? message;
    // `-f name=chat` sets a field in gh, and `-d @file` reads a file in curl.
    if (/^[\w.]+=/.test(file))
      throw new CliError(`${file} cannot be read: ${why}`, EXIT.failed, `To set a field of the body: --fields ${file}`);
    if (file.startsWith('@')) throw new CliError(`${file} cannot be read: ${why}`, EXIT.failed, 'Leave out the @.');
    throw new CliError(`${file} cannot be read: ${why}`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
