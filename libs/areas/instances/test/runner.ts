// A separate worker with this area alone, for tests that kill it. Its configuration and timings are JSON in the first
// argument.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { KeyRing, type Config } from '@slipway/platform-config';
import { InstancesProcessModule } from './worker-module.js';
import type { InstanceTimings } from '../src/catalog/timings.js';

const { config, timings } = JSON.parse(process.argv[2] as string) as { config: Config; timings: InstanceTimings };
const context = await NestFactory.createApplicationContext(
  InstancesProcessModule.of({ ...config, keyRing: new KeyRing(Buffer.alloc(32)) }, 'worker', timings),
  { logger: ['error', 'warn'] },
);
process.on('disconnect', () => process.exit(0));
// As in the worker's entry point: the shutdown hooks receive the signal.
const closable: { close(signal?: string): Promise<void> } = context;
process.on('SIGTERM', () => void closable.close('SIGTERM').then(() => process.exit(0)));
process.send?.('ready');
