import path from 'node:path';
import { PLANE_VARIABLE } from '@slipway/kube-testbed';
import { childEnvironment } from '@slipway/platform-config';
import { findOrStartRedis, startKubernetes, type TestKubernetes, type TestRedis } from './optional-servers.js';
import { ROOT } from './projects.js';

const inTools = (file: string): string => path.join(ROOT, 'tools', 'test-runner', file);
const { default: startPostgres } = (await import(inTools('jest-global-setup.mjs'))) as { default(): Promise<void> };
const { default: stopPostgres } = (await import(inTools('jest-global-teardown.mjs'))) as { default(): Promise<void> };

/**
 * The servers that all suites of a run share: one Postgres, and one Redis and one Kubernetes control plane if their
 * programs are installed.
 */
export class TestServers {
  private constructor(
    private readonly redis: TestRedis,
    private readonly kube: TestKubernetes | undefined,
  ) {}

  /** @throws Error if Kubernetes is required and missing */
  static async start(): Promise<TestServers> {
    await startPostgres();
    try {
      const redis = await findOrStartRedis(childEnvironment()['REDIS_URL']);
      console.log(redis.note);
      const kube = await startKubernetes(childEnvironment()).catch(async (error: unknown) => {
        await redis.stop();
        throw error;
      });
      console.log(kube.note);
      return new TestServers(redis, kube);
    } catch (error) {
      await stopPostgres();
      throw error;
    }
  }

  /** Why tests may be skipped: one sentence for each missing server. */
  get missing(): string[] {
    return [...(this.redis.url ? [] : [this.redis.note]), ...(this.kube && !this.kube.folder ? [this.kube.note] : [])];
  }

  /** Variables for a process that runs tests. */
  environment(changes: Record<string, string> = {}): NodeJS.ProcessEnv {
    return childEnvironment({
      NX_DAEMON: 'false',
      NX_TUI: 'false',
      REDIS_URL: this.redis.url,
      [PLANE_VARIABLE]: this.kube?.folder,
      FORCE_COLOR: process.stdout.isTTY ? undefined : '0',
      ...changes,
    });
  }

  async stop(): Promise<void> {
    await stopPostgres();
    await this.redis.stop();
    await this.kube?.stop();
  }
}
