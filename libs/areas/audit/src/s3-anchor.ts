import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Config } from '@slipway/platform-config';
import { anchorLines, anchorName, type Anchor, type Head } from './anchors.js';

const LIMIT_MS = 10_000;

/** An object for each time that there was news: `<prefix>/<name in the order of time>.jsonl`. None is written twice. */
export class S3Anchor implements Anchor {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly prefix: string;

  /** @param url `s3://<bucket>/<prefix>`; credentials come from where the AWS client looks for them */
  constructor(url: string, { endpoint, region }: Config['upload']['s3']) {
    const { hostname, pathname } = new URL(url);
    this.bucket = hostname;
    this.prefix = pathname.replace(/^\/+|\/+$/g, '');
    this.client = new S3Client({
      region,
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      // The client's newer default, a checksum trailer, is refused by many servers that are only compatible with S3.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  async keep(heads: readonly Head[]): Promise<void> {
    const Key = this.prefix === '' ? anchorName() : `${this.prefix}/${anchorName()}`;
    const object = { Bucket: this.bucket, Key, Body: anchorLines(heads), ContentType: 'application/jsonl' };
    await this.client.send(new PutObjectCommand(object), { abortSignal: AbortSignal.timeout(LIMIT_MS) });
  }
}
