import { isIP } from 'node:net';
import { withoutTrailingSlashes } from '@slipway/contracts';

/* The parsers of variables. Each throws an Error whose message completes "<NAME> …". */

export const text = (raw: string): string => raw;

export const whole =
  (min: number, max: number) =>
  (raw: string): number => {
    const value = /^\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
    if (!(value >= min && value <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
    return value;
  };

export const ports = (raw: string): number[] => {
  const named = raw.split(',').filter((one) => one.trim() !== '');
  return named.map((one) => whole(1, 65535)(one.trim()));
};

export const oneOf =
  <const T extends string>(...allowed: T[]) =>
  (raw: string): T => {
    const found = allowed.find((value) => value === raw);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };

const EXAMPLES: Record<string, string> = {
  postgres: ', as in postgres://user:password@host:5432/slipway (percent-encode special characters of the password)',
  redis: ', as in redis://:password@host:6379',
};

export const url =
  (...schemes: string[]) =>
  (raw: string): string => {
    const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
    const scheme = parsed?.protocol.slice(0, -1);
    if (!scheme || !schemes.includes(scheme))
      throw new Error(`must be a URL with scheme ${schemes.join(' or ')}${EXAMPLES[schemes[0] ?? ''] ?? ''}`);
    return raw;
  };

export const httpUrl = (raw: string): string => withoutTrailingSlashes(url('http', 'https')(raw));

/** As other programs read HTTP_PROXY: without a scheme, it is an http proxy. */
export const proxyUrl = (raw: string): string => {
  const named = raw.includes('://') ? raw : `http://${raw}`;
  const { pathname = '', search = '' } = URL.canParse(named) ? new URL(named) : {};
  if (!/^https?:/.test(named) || pathname !== '/' || search !== '')
    throw new Error('must be the address of an http or https proxy, as in http://proxy.example:3128');
  return named;
};

export const names = (raw: string): string[] => raw.split(/[\s,]+/).filter((name) => name !== '');

export const host = (raw: string): string => {
  if (isIP(raw) === 0 && !/^[A-Za-z0-9]([-A-Za-z0-9.]{0,252})$/.test(raw))
    throw new Error('must be an IP address or a host name');
  return raw;
};

export const key = (raw: string): Buffer => {
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(raw) ? Buffer.from(raw, 'base64') : Buffer.alloc(0);
  if (bytes.length !== 32) throw new Error('must be 32 bytes in base64, e.g. the output of `openssl rand -base64 32`');
  return bytes;
};

export const keys = (raw: string): Buffer[] =>
  raw
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
    .map(key);

export const token = (raw: string): string => {
  if (!/^slw_[A-Za-z0-9-]{1,64}_[\x21-\x7e]{32,512}$/.test(raw))
    throw new Error('must look like slw_<id>_<secret> with a secret of at least 32 characters');
  return raw;
};

export const workspaceStore = (raw: string): string => {
  if (!/^file:.+/.test(raw) && !/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/.*)?$/.test(raw))
    throw new Error('must be file:<folder> or s3://<bucket>/<prefix>');
  return raw;
};

export const auditAnchor = (raw: string): string => {
  if (raw !== 'log' && !/^file:\/.+/.test(raw) && !/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/.*)?$/.test(raw))
    throw new Error('must be log, file:/<path> or s3://<bucket>/<prefix>');
  return raw;
};

/** An address that browsers use. It has no path, because cookies and routes are set for the root. */
export const origin = (raw: string): string => {
  const { origin: found, pathname, search, hash } = new URL(url('http', 'https')(raw));
  if (pathname !== '/' || search !== '' || hash !== '') throw new Error('must be a URL without a path');
  return found;
};

export const origins = (raw: string): string[] => {
  const named = raw
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  if (named.length > 100) throw new Error('must be at most 100 origins');
  return [...new Set(named.map(origin))];
};

/** Headers that each request to an engine has of its own, and headers that would expose the client's credentials. */
const NEVER_PASSED =
  /^(content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|host|proxy-.*|accept(-encoding)?|authorization|cookie|user-agent|x-request-id|traceparent|tracestate)$/;

/** Lower-case names of client headers that engines may receive. @throws Error that says which names are not allowed */
export function headerNames(raw: string): string[] {
  const names = raw
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  const wrong = names.find((one) => !/^[a-z0-9-]{1,64}$/.test(one) || NEVER_PASSED.test(one));
  if (wrong !== undefined)
    throw new Error(`must be header names, separated by commas, that may be passed on (${wrong} may not)`);
  if (names.length > 20) throw new Error('must be at most 20 names');
  return [...new Set(names)];
}
