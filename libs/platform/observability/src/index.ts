export { inTime } from './in-time.js';
export {
  createLogger,
  logContext,
  withLogContext,
  type LogContext,
  type Logger,
  type LoggerOptions,
} from './logger.js';
export { NestLogger } from './nest-logger.js';
export {
  counter,
  DURATION_BUCKETS_SECONDS,
  gauge,
  histogram,
  metrics,
  readGauges,
  renderMetrics,
  startProcessMetrics,
} from './metrics.js';
export { startProbeServer, type ProbeServer, type ProbeServerOptions } from './probe-server.js';
