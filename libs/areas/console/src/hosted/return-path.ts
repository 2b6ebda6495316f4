/** It travels in a cookie. */
const MAX_CHARACTERS = 2_000;
/** Nobody sees a page there. */
const NO_PAGE = /^\/(api|console)(\/|$)/;

/** Where a browser goes after it signed in: a path of the console, or `/` for anything else that was asked for. */
export function returnPath(asked: unknown): string {
  if (typeof asked !== 'string' || !asked.startsWith('/')) return '/';
  const own = 'http://console';
  if (!URL.canParse(asked, own)) return '/';
  const { origin, pathname, search, hash } = new URL(asked, own);
  const path = pathname + search + hash;
  const isOwn = origin === own && !pathname.startsWith('//') && !NO_PAGE.test(pathname);
  return isOwn && path.length <= MAX_CHARACTERS ? path : '/';
}
