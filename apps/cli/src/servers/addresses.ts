/**
 * Removes the slashes at the end of an address, and this path before them: people copy an address with it or without it.
 * The SDK loads on first use, so this file has its own function.
 */
export function withoutPath(url: string, path: string): string {
  const whole = withoutSlashes(url);
  return whole.endsWith(path) ? withoutSlashes(whole.slice(0, -path.length)) : whole;
}

const withoutSlashes = (text: string): string => text.replace(/(?<!\/)\/+$/, '');

/** Whether only the machine itself can reach this address, so that it names another machine to each reader. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname === '0.0.0.0' || /^127\./.test(hostname);
}
