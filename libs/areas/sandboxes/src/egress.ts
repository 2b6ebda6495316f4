import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { errors } from '@slipway/platform-http';
import { checkUrl, guardedDispatcher, parseAllow, type AllowRule } from '@slipway/target-driver';
import type { Dispatcher } from 'undici';

/** Anything public. What is well-formed but not even in here leads to an internal or metadata address. */
const ANYTHING_PUBLIC = parseAllow(['http://*:*', 'https://*:*']);

/** Where files may be sent: what the operator's endpoint targets allow, and nothing else. */
@Injectable()
export class Egress implements OnModuleDestroy {
  readonly dispatcher: Dispatcher;
  private readonly rules: AllowRule[];

  constructor(@Inject(CONFIG) config: Pick<Config, 'operator'>) {
    const allow = config.operator.targets.flatMap((target) => (target.kind === 'endpoint' ? target.allow : []));
    this.rules = parseAllow(allow);
    this.dispatcher = guardedDispatcher(allow);
  }

  isAllowed(url: string): boolean {
    return checkUrl(this.rules, url).ok;
  }

  /**
   * Refuses what can never be right. A public address that the operator does not allow (yet) is accepted: registering
   * sends nothing.
   * @throws validation_failed (422)
   */
  assertBaseUrl(url: string): void {
    const verdict = this.isAllowed(url) ? undefined : checkUrl(ANYTHING_PUBLIC, url);
    if (verdict && !verdict.ok) throw refusal(verdict.code, `base_url ${verdict.message}`);
    if (url.includes('?')) throw refusal('invalid_url', 'base_url must not carry a query');
  }

  async onModuleDestroy(): Promise<void> {
    await this.dispatcher.destroy();
  }
}

function refusal(code: string, message: string): Error {
  return errors.validation_failed({ message, details: [{ field: 'base_url', code, message }] });
}
