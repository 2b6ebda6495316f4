import { shellLine } from '../../ui/text/shell-line.js';

/** The path of a sandbox's files, relative to the root of the api. */
export const filePath = (sandbox: string, query: Record<string, string>): string =>
  `/api/v1/sandboxes/${encodeURIComponent(sandbox)}/files?${new URLSearchParams(query)}`;

/** Sends a file of this name from the disk of the person who pastes the line. The token stays a variable. */
export const uploadCurl = (origin: string, sandbox: string, path: string, mayReplace: boolean): string =>
  [
    shellLine('curl', '-T', nameOf(path), `${origin}${filePath(sandbox, { path, overwrite: String(mayReplace) })}`),
    `-H "authorization: Bearer $SLIPWAY_TOKEN"`,
    `-H 'content-type: application/octet-stream'`,
  ].join(' \\\n  ');

export const uploadCli = (sandbox: string, path: string, mayReplace: boolean): string =>
  shellLine(
    ...['slipway', 'files', 'put', sandbox, path, '--from', nameOf(path)],
    ...(mayReplace ? [] : ['--no-overwrite']),
  );

export const downloadCli = (sandbox: string, path: string): string =>
  shellLine('slipway', 'files', 'get', sandbox, path, '--to', nameOf(path));

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
