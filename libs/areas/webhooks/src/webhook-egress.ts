import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { errors } from '@slipway/platform-http';
import { checkUrl, guardedDispatcher, parseAllow, type AllowRule } from '@slipway/target-driver';
import type { Dispatcher } from 'undici';

/** Any public server over TLS. Plain http and internal addresses need the operator's word. */
const PUBLIC_TLS = 'https://*:*';

/** Where events may be posted to: public servers over TLS, and what the operator allows for endpoint targets. */
@Injectable()
export class WebhookEgress implements OnApplicationShutdown {
  /** Refuses at connect time what only a name's resolution shows. */
  readonly dispatcher: Dispatcher;
  private readonly rules: AllowRule[];

  constructor(@Inject(CONFIG) config: Pick<Config, 'operator'>) {
    const allow = [
      PUBLIC_TLS,
      ...config.operator.targets.flatMap((target) => (target.kind === 'endpoint' ? target.allow : [])),
    ];
    this.rules = parseAllow(allow);
    this.dispatcher = guardedDispatcher(allow);
  }

  /** @throws validation_failed (422) */
  assertUrl(url: string): void {
    const verdict = checkUrl(this.rules, url);
    if (verdict.ok) return;
    const message =
      verdict.code === 'url_not_allowed'
        ? 'url must be https, or what an endpoint target of the operator allows'
        : `url ${verdict.message}`;
    throw errors.validation_failed({ message, details: [{ field: 'url', code: verdict.code, message }] });
  }

  /** Not earlier: a sender that stops waits for the answers under way. */
  async onApplicationShutdown(): Promise<void> {
    await this.dispatcher.destroy();
  }
}
