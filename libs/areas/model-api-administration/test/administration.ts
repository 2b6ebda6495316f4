import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { migrations as revisions } from '@slipway/area-revisions';
import { migrations as dataplane, publishBackend } from '@slipway/dataplane';
import { migrations as auth } from '@slipway/platform-auth';
import type { Principal } from '@slipway/platform-http';
import { OperationHarness, platformMigrations, type OperationRecord } from '@slipway/platform-testing';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import { INSTANCES } from '@slipway/ports/instances';
import { REVISIONS } from '@slipway/ports/revisions';
import { BindingsService } from '../src/bindings.service.js';
import { migrations, ModelApiAdministrationModule } from '../src/index.js';
import { ProductsService } from '../src/products.service.js';
import { PublicationsService } from '../src/publications.service.js';

export const ADMIN = {
  tenantId: 'ten_1',
  tenantName: 'one',
  isOperatorTenant: true,
  actor: { type: 'token', id: 'tok_1' },
  scopes: new Set(['admin']),
} as unknown as Principal;
export const OTHER = { ...ADMIN, tenantId: 'ten_2', tenantName: 'two' } as Principal;

/** The area on a Postgres of its own. Deployments, revisions and instances are other areas' and stand in as tables in memory. */
export class Administration {
  /** Holders by revision. */
  readonly holds = new Map<string, Set<string>>();
  /** When a hold ends by itself, by revision and holder. */
  readonly holdEnds = new Map<string, Date | undefined>();
  readonly ready = new Map<string, number>();
  private sequence = 0;

  private constructor() {}

  harness!: OperationHarness;

  static async start(): Promise<Administration> {
    const one = new Administration();
    one.harness = await OperationHarness.start({
      migrations: [...platformMigrations, ...auth, ...dataplane, ...revisions, ...migrations],
      modules: [one.neighbours(), ModelApiAdministrationModule],
      config: {
        operator: {
          targets: [{ name: 'adopted', kind: 'endpoint', allow: ['http://127.0.0.1:*'] }],
          secrets: {},
        } as any,
      },
    });
    return one;
  }

  stop(): Promise<void> {
    return this.harness.stop();
  }

  get products(): ProductsService {
    return this.harness.context.get(ProductsService);
  }
  get bindings(): BindingsService {
    return this.harness.context.get(BindingsService);
  }
  get publications(): PublicationsService {
    return this.harness.context.get(PublicationsService);
  }

  async product(who = ADMIN): Promise<any> {
    this.sequence += 1;
    return (
      await this.products.create(who, {
        slug: `acme/chat-${this.sequence}`,
        modalities: ['text'],
        supported_parameters: [],
      })
    ).body;
  }

  async supplierBinding(productId: string, baseUrl: string, more: object = {}): Promise<any> {
    const target = { supplier: 'zz-sentinel', base_url: baseUrl, model: 'sim', credential: 'sk-zz-sentinel', ...more };
    return (await this.bindings.create(ADMIN, { product_id: productId, target })).body;
  }

  /** A revision that the stand-in areas know, whose one instance is at the URL. */
  async revision(revisionId: string, baseUrl: string): Promise<void> {
    this.ready.set(revisionId, 1);
    await this.harness.database.tx('system', (tx) =>
      publishBackend(tx, {
        revisionId,
        revisionName: 'dep-00001',
        tenantId: 'ten_1',
        deploymentId: 'dep_1',
        modelId: 'sim',
        instances: [{ id: 'ins_1', base_url: baseUrl, state: 'ready' }],
        credential: null,
        guard: null,
      }),
    );
  }

  async qualify(id: string): Promise<OperationRecord> {
    return this.harness.finish('ten_1', await this.begin(id));
  }

  async begin(id: string): Promise<string> {
    const reply = await this.bindings.qualify(ADMIN, id);
    return JSON.parse((reply.body as { text: string }).text).operation.id;
  }

  private neighbours(): DynamicModule {
    const heldBy = (id: string): Set<string> => this.holds.get(id) ?? this.holds.set(id, new Set()).get(id)!;
    const revision = (id: string) => ({
      id,
      tenantId: 'ten_1',
      deploymentId: 'dep_1',
      number: 1,
      name: 'dep-00001',
      state: 'active',
      specDigest: 'd',
      spec: {},
    });
    const providers = [
      {
        provide: DEPLOYMENTS,
        useValue: { get: async (_tx: unknown, _tenant: string, name: string) => ({ id: 'dep_1', name }) },
      },
      {
        provide: REVISIONS,
        useValue: {
          find: async (_tx: unknown, _deployment: string, id: string) => revision(id),
          getMany: async (_tx: unknown, ids: string[]) => ids.map(revision),
          pin: async () => undefined,
        },
      },
      {
        provide: INSTANCES,
        useValue: {
          want: async (_tx: unknown, { revisionId }: { revisionId: string }, holder: string) =>
            void heldBy(revisionId).add(holder),
          hold: async (_tx: unknown, id: string, holder: string, until?: Date) => {
            heldBy(id).add(holder);
            this.holdEnds.set(`${id} ${holder}`, until);
          },
          release: async (_tx: unknown, id: string, holder: string) => void heldBy(id).delete(holder),
          status: async (_tx: unknown, id: string) => ({
            desired: 1,
            ready: this.ready.get(id) ?? 0,
            alive: 1,
            restarts: 0,
            message: null,
            baseUrls: [],
          }),
          wakeOnChange: async () => undefined,
        },
      },
    ];
    @Global()
    @Module({})
    class Neighbours {}
    return { module: Neighbours, providers, exports: providers.map(({ provide }) => provide) };
  }
}

/** A server that answers as it is told. */
export class Upstream {
  readonly seen: { method: string; path: string; authorization: string | undefined; body: any }[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param answer what it does with a request; a sound server of the model `sim` unless given */
  static async start(
    answer: (request: { path: string; body: any }, response: ServerResponse) => void = soundAnswer,
    port = 0,
  ): Promise<Upstream> {
    const server = createServer((request, response) => void upstream.take(request, response, answer));
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
    const upstream = new Upstream(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return upstream;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private async take(
    request: IncomingMessage,
    response: ServerResponse,
    answer: (request: { path: string; body: any }, response: ServerResponse) => void,
  ): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = text === '' ? undefined : JSON.parse(text);
    const path = request.url as string;
    this.seen.push({ method: request.method as string, path, authorization: request.headers.authorization, body });
    answer({ path, body }, response);
  }
}

function soundAnswer({ path, body }: { path: string; body: any }, response: ServerResponse): void {
  if (path === '/v1/models') return void response.end(JSON.stringify({ object: 'list', data: [{ id: 'sim' }] }));
  if (body?.model !== 'sim')
    return void response.writeHead(404).end(JSON.stringify({ error: { message: 'no such model' } }));
  if (body.stream !== true)
    return void response.end(
      JSON.stringify({
        choices: [{ index: 0, message: { role: 'assistant', content: 'ready' }, finish_reason: 'stop' }],
      }),
    );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'ready' } }] })}\n\ndata: [DONE]\n\n`);
}
