import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config, type TargetConfig } from '@slipway/platform-config';
import type { RevisionSpec } from '@slipway/ports';
import { guardedDispatcher, probeHealth } from '@slipway/target-driver';
import { Agent, type Dispatcher } from 'undici';
import { probeOf } from './instance-spec.js';
import { readSecret } from './secrets.js';
import { TargetCatalog } from './target-catalog.js';

/** Single health requests, beside the looks of the reconciler and without a say in its counts. */
@Injectable()
export class InstanceProbes implements OnApplicationShutdown {
  private readonly dispatchers = new Map<string, Dispatcher>();

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly catalog: TargetCatalog,
  ) {}

  /** Whether the instance answers its health path now. Never throws. */
  async ask(targetName: string, spec: RevisionSpec, baseUrl: string): Promise<boolean> {
    const target = this.catalog.find(targetName)?.config;
    if (!target) return false;
    try {
      const reference = spec.endpoint?.credential_ref;
      const credential = reference === undefined ? undefined : readSecret(this.config.operator, reference);
      const { path, timeoutSeconds } = probeOf(spec);
      const url = `${baseUrl}${path ?? healthPathOf(target, spec)}`;
      return (await probeHealth({ url, timeoutSeconds, dispatcher: this.dispatcherOf(target), credential })).healthy;
    } catch {
      return false;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
  }

  /** An address that a tenant gave is asked through the egress guard. */
  private dispatcherOf(target: TargetConfig): Dispatcher {
    const known = this.dispatchers.get(target.name);
    if (known) return known;
    const made = target.kind === 'endpoint' ? guardedDispatcher(target.allow) : new Agent({ pipelining: 0 });
    this.dispatchers.set(target.name, made);
    return made;
  }
}

function healthPathOf(target: TargetConfig, spec: RevisionSpec): string {
  if (target.kind === 'endpoint') return spec.endpoint?.health_path ?? '/health';
  return target.engines[spec.runtime.engine ?? '']?.ready.path ?? '/health';
}
