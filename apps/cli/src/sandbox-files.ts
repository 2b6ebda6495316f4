import { createWriteStream, openAsBlob } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CliError } from './exit-codes.js';
import { toldKey } from './idempotency-key.js';
import type { CommandInput } from './nouns/verb.js';
import { FILE } from './nouns/views.js';
import type { Session } from './session.js';

export async function putFile(session: Session, { args, flags, options }: CommandInput): Promise<void> {
  const [id, name] = args as [string, string];
  const client = await session.client();
  const idempotencyKey = toldKey(session, flags['idempotencyKey'] as string | undefined);
  const { mode, sha256, overwrite, signal } = options;
  const how = { mode, sha256, ...(overwrite === false && { overwrite }) };
  const content = flags['content'] as string | undefined;
  const put =
    content !== undefined
      ? client.sandboxes.files.put(id, { path: name, content, ...how }, { idempotencyKey, signal })
      : client.sandboxes.files.upload(id, name, await bytesOf(session, flags['from'] as string | undefined), {
          ...how,
          idempotencyKey,
          signal,
        });
  await session.output.print(await put, FILE);
}

/** A retry can read a file again, but not a pipe. */
async function bytesOf(
  { terminal, cwd }: Session,
  from: string | undefined,
): Promise<Blob | ReadableStream<Uint8Array>> {
  const { stdin } = terminal.streams;
  if (from === undefined && stdin.isTTY) throw new CliError('Pass --content or --from, or send the file on stdin.');
  if (from === undefined) return Readable.toWeb(stdin) as ReadableStream<Uint8Array>;
  try {
    return await openAsBlob(path.resolve(cwd, from));
  } catch (error) {
    throw new CliError(`${from} cannot be read: ${(error as Error).message}`);
  }
}

export async function saveFile(session: Session, { args, flags, options }: CommandInput): Promise<void> {
  const [id, name] = args as [string, string];
  const client = await session.client();
  const { body } = await client.sandboxes.files.download(id, name, options);
  const to = flags['to'] as string | undefined;
  const { stdout } = session.terminal.streams;
  // stdout stays open: other code writes to it afterwards.
  const sink =
    to === undefined
      ? new Writable({ write: (chunk, _, done) => void stdout.write(chunk, done) })
      : createWriteStream(path.resolve(session.cwd, to));
  if (body) await pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), sink);
}
