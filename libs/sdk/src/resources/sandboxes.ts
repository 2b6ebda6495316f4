import type { Transport } from '../client/transport.js';
import type { BodyOf, CallOptions, KeyOption, OptionsOf } from '../client/types.js';

/** For the bytes of a whole file: a hundred MiB on a slow line. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
const BYTES = 'application/octet-stream';

export type FileBytes = Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array>;
export type UploadOptions = Omit<OptionsOf<'putSandboxFile'>, 'path'>;

export const sandboxesOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listSandboxes'>) => api.list('listSandboxes', { options }),
  get: (id: string, options?: OptionsOf<'getSandbox'>) => api.call('getSandbox', { path: { id }, options }),
  create: (body: BodyOf<'createSandbox'> = {}, options?: OptionsOf<'createSandbox'>) =>
    api.call('createSandbox', { body, options }),
  /** A merge patch: the named fields change, and null removes a field. */
  update: (id: string, body: BodyOf<'updateSandbox'>, options?: OptionsOf<'updateSandbox'>) =>
    api.call('updateSandbox', { path: { id }, body, options }),
  delete: (id: string, options?: OptionsOf<'deleteSandbox'>) => api.call('deleteSandbox', { path: { id }, options }),
  references: {
    list: (options?: OptionsOf<'listSandboxReferences'>) => api.list('listSandboxReferences', { options }),
    create: (body: BodyOf<'createSandboxReference'>, options?: OptionsOf<'createSandboxReference'>) =>
      api.call('createSandboxReference', { body, options }),
    revoke: (id: string, options?: OptionsOf<'revokeSandboxReference'>) =>
      api.call('revokeSandboxReference', { path: { id }, options }),
    /** Removes what is left of a revoked reference. */
    delete: (id: string, options?: OptionsOf<'deleteSandboxReference'>) =>
      api.call('deleteSandboxReference', { path: { id }, options }),
  },
  files: {
    list: (id: string, options?: Omit<OptionsOf<'listSandboxFiles'>, 'path'>) =>
      api.list('listSandboxFiles', { path: { id }, options }),
    /** A small file as text, in JSON. */
    put: (id: string, body: BodyOf<'putSandboxFile'>, options?: CallOptions & KeyOption) =>
      api.call('putSandboxFile', { path: { id }, body, options }),
    /** Bytes of any size. A stream is sent once: a try that fails is not repeated. */
    upload: (id: string, path: string, bytes: FileBytes, options?: UploadOptions) =>
      api.call('putSandboxFile', {
        path: { id },
        body: bytes,
        contentType: BYTES,
        options: { timeoutMs: UPLOAD_TIMEOUT_MS, ...options, path },
      }),
    delete: (id: string, path: string, options?: Omit<OptionsOf<'deleteSandboxFile'>, 'path'>) =>
      api.call('deleteSandboxFile', { path: { id }, options: { ...options, path } }),
    /** Returns the answer itself: `arrayBuffer()`, `text()`, or its `body` as a stream. */
    download: (id: string, path: string, options?: CallOptions) =>
      api.bytes('listSandboxFiles', {
        path: { id },
        options: { ...options, headers: { ...options?.headers, accept: BYTES }, path },
      }),
  },
});
