import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { DigestCheck, type ContentDigests } from './content-digest.js';
import { sandboxErrors } from '../sandbox.errors.js';

export interface BodyRules {
  /** Size in bytes of the largest file that is accepted. */
  maxBytes: number;
  /** Free bytes of the workspace; Infinity if nothing is stored. */
  capacity: number;
  /** Waits until this many bytes may be stored, or fails; absent if nothing is stored. */
  cover?(bytes: number): Promise<void>;
  /** Digests of the message, if the message is the file. */
  digests: ContentDigests;
  /** Hex; the SHA-256 that the client declares. */
  sha256?: string;
}

/** A request body on its way into the store: counted, digested, and refused at the byte that breaks a rule. */
export class MeteredBody {
  bytes = 0;
  /** Hex; complete once the stream has ended. */
  sha256 = '';
  /** The reason why the stream failed. The store's own error about it is not for clients. */
  failure: unknown;

  constructor(
    private readonly source: Readable | Buffer,
    private readonly rules: BodyRules,
  ) {}

  /** The stream ends without an error only if size and digests are right. Call once. */
  stream(): Readable {
    return Readable.from(this.read(), { objectMode: false });
  }

  /** Reads to the end and keeps nothing. */
  async drain(): Promise<void> {
    for await (const _chunk of this.read());
  }

  private async *read(): AsyncGenerator<Buffer> {
    try {
      const hash = createHash('sha256');
      const check = new DigestCheck(this.rules.digests);
      for await (const chunk of chunksOf(this.source)) {
        this.bytes += chunk.length;
        this.refuseTooLarge();
        await this.rules.cover?.(this.bytes);
        hash.update(chunk);
        check.update(chunk);
        yield chunk;
      }
      check.verify();
      this.sha256 = hash.digest('hex');
      if (this.rules.sha256 === undefined || this.rules.sha256.toLowerCase() === this.sha256) return;
      throw sandboxErrors.digest_mismatch({
        details: [{ field: 'sha256', code: 'digest_mismatch', message: 'the SHA-256 does not match the content' }],
      });
    } catch (failure) {
      this.failure = failure;
      throw failure;
    }
  }

  private refuseTooLarge(): void {
    const { maxBytes, capacity } = this.rules;
    if (this.bytes > maxBytes) throw sandboxErrors.file_too_large({ extra: { max_bytes: maxBytes } });
    if (this.bytes > capacity) throw sandboxErrors.workspace_full();
  }
}

/** A request must outlive the refusal of its body: destroying it would also close the connection of the answer. */
function chunksOf(source: Readable | Buffer): AsyncIterable<Buffer> | Buffer[] {
  return Buffer.isBuffer(source) ? [source] : source.iterator({ destroyOnReturn: false });
}
