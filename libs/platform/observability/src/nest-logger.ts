import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** Nest names every module and route at each boot, which is useful only for debugging the wiring. */
const WIRING = new Set(['InstanceLoader', 'RouterExplorer', 'RoutesResolver', 'NestFactory', 'NestApplication']);

/**
 * Makes Nest, and every `new Logger(context)` of it, write through pino. The context becomes the field `context`.
 * `nestjs-pino` would also log each request, which our hooks already do with the ids of the contract.
 */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    const isWiring = typeof rest.at(-1) === 'string' && WIRING.has(rest.at(-1) as string);
    this.write(isWiring ? 'debug' : 'info', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    // Nest's convention is (message, stack?, context?). A single string is the context unless it has the form of a
    // stack.
    const stack = rest.find((part): part is string => typeof part === 'string' && part.includes('\n    at '));
    this.write(
      'error',
      message,
      rest.filter((part) => part !== stack),
      stack,
    );
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  private write(level: Level, message: unknown, rest: unknown[], stack?: string): void {
    const last = rest.at(-1);
    const context = typeof last === 'string' ? { context: last } : {};
    const more = typeof last === 'string' ? rest.slice(0, -1) : rest;
    const failure = message instanceof Error ? message : more.find((part): part is Error => part instanceof Error);
    const fields = Object.assign(
      {},
      ...more.filter(isPlain),
      isPlain(message) ? message : {},
      context,
      failure ? { err: failure } : {},
      stack ? { stack } : {},
    ) as object;
    if (message instanceof Error) this.logger[level](fields, message.message);
    else if (isPlain(message)) this.logger[level](fields);
    else this.logger[level](fields, String(message));
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !(value instanceof Error) && !Array.isArray(value);
}
