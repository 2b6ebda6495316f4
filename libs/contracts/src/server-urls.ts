import { withoutTrailingSlashes } from './slashes.js';

/** The URLs of an OpenAI-compatible server below which its paths are. Neither ends with a slash. */
export interface ServerUrls {
  /** Of paths that do not belong to the API, such as `/health` and `/info`. */
  root: string;
  /** Of the API's own paths, such as `/chat/completions` and `/models`. */
  api: string;
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i;
/** A version at the end of a path: `/v1`, `/api/v3`, `/v1beta/openai`. */
const VERSION_AT_END = /\/v\d[a-z0-9]*(?:\/openai)?$/;

/**
 * The one rule for base URLs. A path that ends in a version is the API's own path; otherwise the API is at `/v1` below
 * the path. So `http://host`, `http://host/` and `http://host/v1/` are the same server. `apiPath` replaces the version,
 * for servers that follow no such custom; `/` means that the API has no path of its own.
 */
export function serverUrls(baseUrl: string, apiPath?: string): ServerUrls {
  const origin = ORIGIN.exec(baseUrl)?.[0] ?? '';
  const base = withoutTrailingSlashes(baseUrl.slice(origin.length));
  const prefix = base.replace(VERSION_AT_END, '');
  const root = `${origin}${withoutTrailingSlashes(prefix)}`;
  if (apiPath !== undefined) return { root, api: `${root}${withoutTrailingSlashes(apiPath)}` };
  return { root, api: prefix === base ? `${root}/v1` : `${origin}${base}` };
}
