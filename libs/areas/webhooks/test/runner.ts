// A worker process with this area alone, for tests that kill it. Database and timing come as JSON in the first
// argument.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { KeyRing, type Config } from '@slipway/platform-config';
import type { DeliveryTiming } from '../src/index.js';
import { WebhooksWorkerModule } from './surroundings.js';

const { config, timing } = JSON.parse(process.argv[2] as string) as { config: Config; timing: DeliveryTiming };
await NestFactory.createApplicationContext(
  WebhooksWorkerModule.of({ ...config, keyRing: new KeyRing(Buffer.alloc(32, 7)) }, timing),
  { logger: ['error', 'warn'] },
);
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
