import { expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newBlob } from '../src/storage/blob-store.js';
import { createBlobStore } from '../src/storage/create-blob-store.js';
import { describeBlobStore } from './blob-store-conformance.js';
import { startS3 } from './s3-server.js';

describeBlobStore(async () => {
  const server = await startS3();
  const store = await createBlobStore({
    upload: {
      maxBytes: 1,
      workspaceStore: 's3://workspaces/some/prefix',
      s3: { endpoint: server.endpoint, region: 'us-east-1' },
    },
  });
  return { store, contents: server.contents, stop: server.stop };
});

it('lists and aborts the parts that a killed writer left', async () => {
  const blob = newBlob('sbx_killed');
  const calls: string[] = [];
  // s3rver has neither call, so this is a stub that answers as the S3 reference says.
  const stub = createServer((request, response) => {
    calls.push(`${request.method} ${decodeURIComponent(request.url!).replace(/&?x-id=\w+/, '')}`);
    if (!request.url!.includes('uploads=')) return response.writeHead(204).end();
    const upload = `<Upload><Key>p/${blob}</Key><UploadId>u1</UploadId></Upload>`;
    return response.end(
      `<?xml version="1.0"?><ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${upload}</ListMultipartUploadsResult>`,
    );
  });
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`;
  const store = await createBlobStore({
    upload: { maxBytes: 1, workspaceStore: 's3://bucket/p', s3: { endpoint, region: 'us-east-1' } },
  });
  await store.remove(blob);
  await store.close();
  stub.close();
  expect(calls[0]).toMatch(new RegExp(`^DELETE /bucket/p/${blob}`));
  expect(calls[1]).toMatch(new RegExp(`^GET /bucket/\\?.*prefix=p/${blob}.*uploads=`));
  expect(calls[2]).toMatch(new RegExp(`^DELETE /bucket/p/${blob}\\?.*uploadId=u1`));
});
