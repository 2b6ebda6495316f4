import {
  Catch,
  Global,
  Injectable,
  Module,
  RequestMapping,
  type ArgumentsHost,
  type ExceptionFilter,
  type OnModuleInit,
} from '@nestjs/common';
import { APP_FILTER, DiscoveryModule, DiscoveryService, MetadataScanner, ModuleRef, Reflector } from '@nestjs/core';
import { SlipwayError } from './errors/slipway-error.js';
import { RouteDeclaration } from './routes/route.decorator.js';
import type { ExistenceCheck } from './routes/route-spec.js';
import { sendErrorEnvelope } from './server/error-answer.js';
import type { SlipwayReply, SlipwayRequest } from './server/slipway-request.js';

/** Answers failures of handlers. All other failures reach the same function through the adapter. */
@Catch()
@Injectable()
export class FailureFilter implements ExceptionFilter {
  constructor(private readonly modules: ModuleRef) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<SlipwayRequest>();
    const reply = http.getResponse<SlipwayReply>();
    sendErrorEnvelope(request, reply, await this.preferNotFound(thrown, request));
  }

  /**
   * 404 takes precedence over 422, but a body is read before a handler can load the resource. So the resource is
   * checked here.
   */
  private async preferNotFound(thrown: unknown, request: SlipwayRequest): Promise<unknown> {
    const { route, tenantId } = request.slipway;
    if (!route?.notFoundFirst || tenantId === undefined) return thrown;
    if (!(thrown instanceof SlipwayError) || thrown.code !== 'validation_failed') return thrown;
    try {
      const check = this.modules.get<ExistenceCheck>(route.notFoundFirst as never, { strict: false });
      await check.assertExists(tenantId, request.params);
      return thrown;
    } catch (missing) {
      return missing;
    }
  }
}

/** Fails the boot if a handler has Nest's own routing decorator instead of `@Route`. */
@Injectable()
export class RouteCensus implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    const strays = this.discovery.getControllers().flatMap(({ instance, name }) => {
      if (!instance) return [];
      const prototype = Object.getPrototypeOf(instance) as Record<string, Function>;
      return this.scanner
        .getAllMethodNames(prototype)
        .filter((method) => this.isStray(prototype[method]!))
        .map((method) => `${String(name)}.${method}`);
    });
    if (strays.length > 0) throw new Error(`These handlers need @Route of platform-http: ${strays.join(', ')}`);
  }

  private isStray(handler: Function): boolean {
    const isRouted = ROUTING_KEYS.every((key) => Reflect.hasMetadata(key, handler));
    return isRouted && this.reflector.get(RouteDeclaration, handler) === undefined;
  }
}

/**
 * The metadata keys of every handler that Nest routes. Nest publishes no names for them, so they are read from a
 * sample.
 */
const ROUTING_KEYS = ((): unknown[] => {
  const handler = (): void => undefined;
  RequestMapping()({}, handler.name, { value: handler });
  return Reflect.getMetadataKeys(handler);
})();

@Global()
@Module({ imports: [DiscoveryModule], providers: [{ provide: APP_FILTER, useClass: FailureFilter }, RouteCensus] })
export class HttpModule {}
