import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { withinTime, withoutOuterSlashes } from '@slipway/contracts';
import type { Config } from '@slipway/platform-config';
import { anchorLines, anchorName, type Anchor, type Head } from './anchors.js';

const LIMIT_MS = 10_000;

/** Writes one object per change: `<prefix>/<name in the order of time>.jsonl`. It never writes an object twice. */
export class S3Anchor implements Anchor {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly prefix: string;

  /** @param url `s3://<bucket>/<prefix>`; the AWS client finds the credentials in its usual sources */
  constructor(url: string, { endpoint, region }: Config['upload']['s3']) {
    const { hostname, pathname } = new URL(url);
    this.bucket = hostname;
    this.prefix = withoutOuterSlashes(pathname);
    this.client = new S3Client({
      region,
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      // The newer default of the client, a checksum trailer, is refused by many servers that are only compatible with
      // S3.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  async keep(heads: readonly Head[]): Promise<void> {
    const Key = this.prefix === '' ? anchorName() : `${this.prefix}/${anchorName()}`;
    const object = { Bucket: this.bucket, Key, Body: anchorLines(heads), ContentType: 'application/jsonl' };
    await withinTime(LIMIT_MS, undefined, (abortSignal) =>
      this.client.send(new PutObjectCommand(object), { abortSignal }),
    );
  }
}
