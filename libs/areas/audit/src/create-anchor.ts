import type { Config } from '@slipway/platform-config';
import { FileAnchor, LogAnchor, type Anchor } from './anchors.js';

export type AnchorConfig = Pick<Config, 'audit' | 'upload' | 'logLevel'>;

/** @returns the place that `SLIPWAY_AUDIT_ANCHOR` names */
export async function createAnchor({ audit, upload, logLevel }: AnchorConfig): Promise<Anchor> {
  if (audit.anchor === 'log') return new LogAnchor(logLevel);
  if (audit.anchor.startsWith('file:')) return new FileAnchor(audit.anchor.slice('file:'.length));
  // On demand, because the AWS client is large.
  const { S3Anchor } = await import('./s3-anchor.js');
  return new S3Anchor(audit.anchor, upload.s3);
}
