import type { Readable } from 'node:stream';
import {
  errors,
  fingerprintOf,
  newFindings,
  readObject,
  reportUnknown,
  type Findings,
  type IdempotencyClaim,
  type SlipwayRequest,
} from '@slipway/platform-http';
import { parseContentDigest, type ContentDigests, verifyJsonDigest } from './content-digest.js';
import { FileOptionsDto, FileQueryDto, PutFileDto } from './file.dto.js';
import { assertFilePath } from './file-path.js';

/** The largest file that JSON may carry. The body around it may be larger. */
export const JSON_FILE_BYTES = 8 * 1024 * 1024;
/** 8 MiB in base64, and some overhead. */
export const JSON_BODY_BYTES = 12 * 1024 * 1024;

/** An upload as the client requested it, after a check of its form. Nothing of a streamed body has been read. */
export interface FileUpload {
  path: string;
  mode: string;
  overwrite: boolean;
  /** Hex. */
  sha256?: string;
  /** Digests of the streamed body. Those of a JSON body have been verified already. */
  digests: ContentDigests;
  source: Readable | Buffer;
  /** Bytes, if the request declares them. */
  declaredBytes?: number;
  /** Size in bytes of the largest file that this form takes. */
  maxBytes: number;
  idempotency?: IdempotencyClaim;
  /** Compares a JSON body with its Content-Digest. @throws digest_mismatch (422) */
  verifyMessage(): void;
  /** Returns the request's fingerprint, once the content's SHA-256 is known. */
  fingerprint(sha256: string): string;
}

/**
 * Reads a PUT in either of its forms.
 * @param body the parsed JSON object, or the unread stream
 * @throws path_invalid, invalid_parameter (400), validation_failed (422)
 */
export function readFileUpload(
  request: SlipwayRequest,
  body: unknown,
  idempotency: IdempotencyClaim | undefined,
  maxBytes: number,
): FileUpload {
  return isStream(body)
    ? readStream(request, body, idempotency, maxBytes)
    : readJson(request, body as Record<string, unknown>, idempotency, maxBytes);
}

function readStream(
  request: SlipwayRequest,
  source: Readable,
  idempotency: IdempotencyClaim | undefined,
  maxBytes: number,
): FileUpload {
  const digests = parseContentDigest(headerOf(request, 'content-digest'));
  const findings = newFindings();
  const options = readOptions(FileOptionsDto, request.query, findings, true);
  const length = headerOf(request, 'content-length');
  return {
    ...options,
    digests,
    source,
    maxBytes,
    idempotency,
    declaredBytes: length === undefined ? undefined : Number(length),
    verifyMessage: () => undefined,
    fingerprint: (sha256) => fingerprintOf(request.query, undefined, sha256),
  };
}

function readJson(
  request: SlipwayRequest,
  body: Record<string, unknown>,
  idempotency: IdempotencyClaim | undefined,
  maxBytes: number,
): FileUpload {
  const findings = newFindings();
  // A file may hold bytes that no text column can, so its content is not read as a field.
  const { content } = body;
  const options = readOptions(
    PutFileDto,
    { ...body, ...queryOptions(request, body, findings), ...(typeof content === 'string' && { content: '' }) },
    findings,
    false,
  );
  reportUnknown(findings.unknown);
  const source = bytesOf(content as string, options.encoding);
  const fingerprint = fingerprintOf(request.query, body);
  return {
    ...options,
    digests: {},
    source,
    maxBytes: Math.min(maxBytes, JSON_FILE_BYTES),
    idempotency,
    declaredBytes: source.length,
    verifyMessage: () => verifyJsonDigest(request),
    fingerprint: () => fingerprint,
  };
}

/**
 * Returns the options of the query, which hold for a JSON body too: a client that writes `?overwrite=false` must not
 * overwrite a file because its options are in the wrong place. An option in both places must have one value.
 */
function queryOptions(request: SlipwayRequest, body: Record<string, unknown>, findings: Findings): object {
  const query = readObject(FileQueryDto, request.query, '', findings, true) as FileQueryDto;
  const given = Object.entries(query).filter(([name]) => request.query[name] !== undefined);
  for (const [field, value] of given) {
    if (body[field] === undefined || body[field] === null || body[field] === value) continue;
    findings.broken.push({ field, code: 'differs', message: `${field} differs between the query and the body` });
  }
  return Object.fromEntries(given);
}

/** A path that breaks its rules is a 400, and takes precedence over any error in another field. */
function readOptions<T extends FileOptionsDto>(
  type: new () => T,
  given: Record<string, unknown>,
  findings: Findings,
  isText: boolean,
): T {
  const { path } = given;
  const dto = readObject(type, { ...given, ...(typeof path === 'string' && { path: '-' }) }, '', findings, isText) as T;
  if (findings.mistyped.length > 0)
    throw errors.invalid_parameter({ message: findings.mistyped[0]!.message, details: findings.mistyped });
  if (typeof path === 'string') assertFilePath(path);
  if (findings.broken.length > 0)
    throw errors.validation_failed({ message: findings.broken[0]!.message, details: findings.broken });
  dto.path = path as string;
  dto.mode = dto.mode.padStart(4, '0');
  return dto;
}

function bytesOf(content: string, encoding: PutFileDto['encoding']): Buffer {
  if (encoding === 'utf-8') {
    if (/\p{Cs}/u.test(content)) throw contentRefused('characters', 'must not contain lone surrogates');
    return Buffer.from(content, 'utf8');
  }
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content))
    throw contentRefused('format', 'must be base64 with padding');
  return Buffer.from(content, 'base64');
}

function contentRefused(code: string, rule: string): Error {
  const message = `content ${rule}`;
  return errors.validation_failed({ message, details: [{ field: 'content', code, message }] });
}

function headerOf(request: SlipwayRequest, name: string): string | undefined {
  const value = (request.headers as Record<string, string | string[] | undefined>)[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function isStream(body: unknown): body is Readable {
  return typeof (body as { pipe?: unknown } | null | undefined)?.pipe === 'function';
}
