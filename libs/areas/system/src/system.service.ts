import { createHash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { RequestGuard } from '@slipway/platform-http/auth';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { errors, type SlipwayRequest } from '@slipway/platform-http';
import { inTime, renderMetrics } from '@slipway/platform-observability';

/** Longer than a healthy answer takes, and shorter than the time-out of a probe. */
const PING_TIMEOUT_MS = 2_000;

@Injectable()
export class SystemService implements BeforeApplicationShutdown {
  private isStopping = false;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'metricsPort' | 'metricsToken'>,
    private readonly database: Database,
    private readonly guard: RequestGuard,
  ) {}

  beforeApplicationShutdown(): void {
    this.isStopping = true;
  }

  /**
   * The queue is not checked, because its content waits in Postgres. `@nestjs/terminus` would use a connection outside
   * `Database`, and would answer with the state of each part instead of the contract's error envelope.
   * @throws unavailable (503)
   */
  async assertReady(): Promise<void> {
    if (this.isStopping) throw errors.unavailable({ message: 'The process is stopping.' });
    await this.ping();
  }

  /** Whether Postgres answers. Never rejects. */
  answers(): Promise<boolean> {
    return this.ping().then(
      () => true,
      () => false,
    );
  }

  private async ping(): Promise<void> {
    await inTime(this.database.ping(), PING_TIMEOUT_MS, () =>
      errors.unavailable({ message: 'The database does not respond.' }),
    );
  }

  /**
   * Returns the metrics to the holder of the metrics token, or of any token of the operator tenant.
   * @throws not_found if metrics have a port of their own
   */
  async metrics(request: SlipwayRequest): Promise<{ body: string; contentType: string }> {
    if (this.config.metricsPort !== undefined) throw errors.not_found();
    if (!this.holdsMetricsToken(request)) {
      const principal = await this.guard.authenticate(request);
      if (!principal.isOperatorTenant)
        throw errors.scope_insufficient({ message: 'Only the operator tenant can read metrics.' });
    }
    return renderMetrics();
  }

  private holdsMetricsToken(request: SlipwayRequest): boolean {
    const { metricsToken } = this.config;
    if (metricsToken === undefined) return false;
    // Hashed first, because timingSafeEqual needs equal lengths.
    const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
    return timingSafeEqual(digest(request.headers.authorization ?? ''), digest(`Bearer ${metricsToken}`));
  }
}
