import { setImmediate as nextRun } from 'node:timers/promises';
import { isMediaAllowed, type MediaUrls } from '@slipway/contracts';
import { mediaUrlRefused, type GatewayError } from '../gateway.errors.js';
import { MediaWalk, type NamedMedia } from './media-walk.js';
import type { RequestBody } from './request-body.js';

/** A walk over this much takes a few milliseconds at most; then other requests get theirs. */
const BYTES_AT_ONCE = 64 * 1024;

/** Checks the URLs of media in a body against rules. Without a rule, the body is not read for it. */
export class MediaCheck {
  private walk: MediaWalk | undefined;
  private isDone = false;

  constructor(private readonly body: Pick<RequestBody, 'text' | 'members'>) {}

  /**
   * Returns a promise only for a long body that was not read before.
   * @throws GatewayError 400
   */
  assertAllowed(rules: readonly MediaUrls[]): void | Promise<void> {
    if (rules.length === 0) return undefined;
    this.walk ??= new MediaWalk(this.body.text, this.body.members);
    this.isDone ||= this.walk.advance(BYTES_AT_ONCE);
    if (!this.isDone) return this.continued(this.walk, rules);
    return assertAll(rules, this.walk);
  }

  private async continued(walk: MediaWalk, rules: readonly MediaUrls[]): Promise<void> {
    while (!this.isDone) {
      await nextRun();
      this.isDone = walk.advance(BYTES_AT_ONCE);
    }
    assertAll(rules, walk);
  }
}

function assertAll(rules: readonly MediaUrls[], { hosts, other }: NamedMedia): void {
  for (const rule of rules) {
    if (other !== undefined && !isMediaAllowed(rule, { kind: 'other' })) throw refused(other, rule);
    for (const [host, path] of hosts)
      if (!isMediaAllowed(rule, { kind: 'host', host })) throw refused(path, rule, host);
  }
}

/** @param host undefined if the URL names none, or not the same one for every reader of URLs */
function refused(path: string, { allow }: MediaUrls, host?: string): GatewayError {
  const reason =
    host === undefined ? 'it names no host, or one that not every reader of URLs finds in it' : `its host is ${host}`;
  const ofHosts = "'data:' URLs, and http and https URLs of the hosts that its owner allows";
  if (allow === 'hosts') return mediaUrlRefused(path, reason, ofHosts);
  return mediaUrlRefused(path, "it is no 'data:' URL", "'data:' URLs only");
}
