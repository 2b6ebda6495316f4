import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { joinSignals, withoutOuterSlashes } from '@slipway/contracts';
import { assertBlob, BlobMissingError, StoreStalledError, type BlobStore, type BlobWriteBounds } from './blob-store.js';
import { TRANSFER_CONNECT_TIMEOUT_MS, TRANSFER_IDLE_TIMEOUT_MS } from './time-limits.js';

export interface S3StoreOptions {
  bucket: string;
  /** Prefix of every key; may be empty. */
  prefix: string;
  /** AWS if unset. The AWS client finds the credentials in its usual sources. */
  endpoint?: string;
  region: string;
  /** Milliseconds without a byte on a connection. */
  idleTimeoutMs?: number;
}

/** The smallest part that S3 allows. Two parts are in memory at a time. */
const PART_BYTES = 5 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/**
 * Blobs as objects: `<prefix>/<sandbox>/<id>`. A small one is one PUT, a larger one a multi-part upload; both show an
 * object only when it is whole. `remove` lists and aborts the parts of an upload whose process was killed.
 */
export class S3Store implements BlobStore {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly prefix: string;

  constructor({ bucket, prefix, endpoint, region, idleTimeoutMs = TRANSFER_IDLE_TIMEOUT_MS }: S3StoreOptions) {
    this.bucket = bucket;
    this.prefix = withoutOuterSlashes(prefix);
    this.client = new S3Client({
      region,
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      // The newer default of the client, a checksum trailer, is refused by many servers that are only compatible with
      // S3.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: TRANSFER_CONNECT_TIMEOUT_MS,
        socketTimeout: idleTimeoutMs,
        // Fifty by default: fifty slow readers would block the files of all other clients.
        httpAgent: { maxSockets: Infinity },
        httpsAgent: { maxSockets: Infinity },
      },
    });
    this.client.middlewareStack.add(
      (next) => (args) =>
        next(args).catch((failure: Error) => {
          // The client would try a silent server three times.
          throw failure.name === 'TimeoutError' ? new StoreStalledError(failure.message) : failure;
        }),
      { step: 'finalizeRequest', priority: 'low' },
    );
  }

  async write(blob: string, source: Readable, { signal }: BlobWriteBounds): Promise<void> {
    const params = {
      Bucket: this.bucket,
      Key: this.keyOf(blob),
      Body: source,
      ContentType: 'application/octet-stream',
    };
    let failure: unknown;
    // A failing source makes the client abort. If the server refuses the abort, its refusal must not hide the cause.
    source.once('error', (error) => (failure = error));
    const stall = new AbortController();
    const either = joinSignals(signal, stall.signal);
    const client = this.clientUntil(stall, either.signal);
    try {
      await new Upload({ client, params, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE }).done();
    } catch (error) {
      source.destroy();
      throw failure ?? stall.signal.reason ?? error;
    } finally {
      either.stop();
    }
  }

  async read(blob: string, abortSignal?: AbortSignal): Promise<Readable> {
    try {
      const object = { Bucket: this.bucket, Key: this.keyOf(blob) };
      const { Body } = await this.client.send(new GetObjectCommand(object), { abortSignal });
      return Body as Readable;
    } catch (failure) {
      if ((failure as Error).name === 'NoSuchKey') throw new BlobMissingError(blob);
      throw failure;
    }
  }

  async remove(blob: string, abortSignal?: AbortSignal): Promise<void> {
    const Key = this.keyOf(blob);
    await this.client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key }), { abortSignal });
    const parts = { Bucket: this.bucket, Prefix: Key };
    const found = await this.client
      .send(new ListMultipartUploadsCommand(parts), { abortSignal })
      .catch((failure: Error & { $metadata?: { httpStatusCode?: number } }) => {
        // Some compatible servers have no such list. There, a lifecycle rule of the bucket has to collect parts.
        if (failure.name === 'NotImplemented' || failure.$metadata?.httpStatusCode === 501) return { Uploads: [] };
        throw failure;
      });
    for (const { UploadId } of found.Uploads ?? []) {
      const part = new AbortMultipartUploadCommand({ Bucket: this.bucket, Key, UploadId });
      await this.client.send(part, { abortSignal });
    }
  }

  async close(): Promise<void> {
    this.client.destroy();
  }

  /**
   * `Upload` has no signal for its running parts. After a stall it would also send an abort to the silent server;
   * `remove` does that once the server responds again.
   */
  private clientUntil(stall: AbortController, abortSignal: AbortSignal): S3Client {
    const send = (command: Parameters<S3Client['send']>[0]) =>
      this.client.send(command, { abortSignal }).catch((failure: unknown) => {
        if (failure instanceof StoreStalledError) stall.abort(failure);
        throw failure;
      });
    return Object.create(this.client, { send: { value: send } }) as S3Client;
  }

  private keyOf(blob: string): string {
    assertBlob(blob);
    return this.prefix === '' ? blob : `${this.prefix}/${blob}`;
  }
}
