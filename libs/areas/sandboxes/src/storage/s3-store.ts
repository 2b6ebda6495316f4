import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { assertBlob, BlobMissing, type BlobStore } from './blob-store.js';

export interface S3StoreOptions {
  bucket: string;
  /** Before every key; may be empty. */
  prefix: string;
  /** AWS if unset. Credentials come from where the AWS client looks for them. */
  endpoint?: string;
  region: string;
}

/** The least that S3 allows for a part. Two of them are in memory at a time. */
const PART_BYTES = 5 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
/** Seconds in milliseconds: a server that says nothing for so long is gone. */
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Blobs as objects: `<prefix>/<sandbox>/<id>`. A small one is one PUT, a larger one a multi-part upload; both show an
 * object only when it is whole. Parts of an upload whose process was killed are listed and aborted by `remove`.
 */
export class S3Store implements BlobStore {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly prefix: string;

  constructor({ bucket, prefix, endpoint, region }: S3StoreOptions) {
    this.bucket = bucket;
    this.prefix = prefix.replace(/^\/+|\/+$/g, '');
    this.client = new S3Client({
      region,
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      // The client's newer default, a checksum trailer, is refused by many servers that are only compatible with S3.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
    });
  }

  async write(blob: string, source: Readable): Promise<void> {
    const params = {
      Bucket: this.bucket,
      Key: this.keyOf(blob),
      Body: source,
      ContentType: 'application/octet-stream',
    };
    let failure: unknown;
    // A failing source makes the client abort; if the server refuses that, its refusal must not hide the cause.
    source.once('error', (error) => (failure = error));
    try {
      await new Upload({ client: this.client, params, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE }).done();
    } catch (error) {
      source.destroy();
      throw failure ?? error;
    }
  }

  async read(blob: string): Promise<Readable> {
    try {
      const { Body } = await this.client.send(new GetObjectCommand({ Bucket: this.bucket, Key: this.keyOf(blob) }));
      return Body as Readable;
    } catch (failure) {
      if ((failure as Error).name === 'NoSuchKey') throw new BlobMissing(blob);
      throw failure;
    }
  }

  async remove(blob: string): Promise<void> {
    const Key = this.keyOf(blob);
    await this.client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key }));
    const parts = { Bucket: this.bucket, Prefix: Key };
    const found = await this.client
      .send(new ListMultipartUploadsCommand(parts))
      .catch((failure: Error & { $metadata?: { httpStatusCode?: number } }) => {
        // Some compatible servers have no such list; there a lifecycle rule of the bucket has to collect parts.
        if (failure.name === 'NotImplemented' || failure.$metadata?.httpStatusCode === 501) return { Uploads: [] };
        throw failure;
      });
    for (const { UploadId } of found.Uploads ?? []) {
      await this.client.send(new AbortMultipartUploadCommand({ Bucket: this.bucket, Key, UploadId }));
    }
  }

  async close(): Promise<void> {
    this.client.destroy();
  }

  private keyOf(blob: string): string {
    assertBlob(blob);
    return this.prefix === '' ? blob : `${this.prefix}/${blob}`;
  }
}
