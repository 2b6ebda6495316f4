import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DynamicModule } from '@nestjs/common';
import { migrations as revisions } from '@slipway/area-revisions/revisions';
import type { ObservationReason, PromisedTraits, RevisionSpec } from '@slipway/contracts';
import { migrations as dataplane, publishBackend, type PublishedInstance } from '@slipway/dataplane';
import { startRules } from '@slipway/area-instances/testing';
import { migrations as auth } from '@slipway/platform-http/auth';
import type { Config } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { Egress } from '@slipway/platform-egress';
import type { Principal } from '@slipway/platform-http';
import {
  OperationHarness,
  platformMigrations,
  type OperationRecord,
  neighboursModule,
  testPrincipal,
} from '@slipway/platform-durable/operations/testing';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import { INSTANCES, type AdoptedServer, type WorkloadStatus } from '@slipway/ports/instances';
import { REVISIONS } from '@slipway/ports/revisions';
import { BindingsService } from '../../src/model-api-administration/bindings.service.js';
import { migrations, ModelApiAdministrationModule } from '../../src/model-api-administration/index.js';
import { ProductsService } from '../../src/model-api-administration/products.service.js';
import { PublicationsService } from '../../src/model-api-administration/publications.service.js';
import { CALL_IDLE_TIMEOUT } from '../../src/model-api-administration/qualification-calls.js';

export const ADMIN: Principal = { ...testPrincipal('ten_1'), tenantName: 'one', isOperatorTenant: true };
/** The checks of a supplier, in their order. */
export const CHECKS = ['list_models', 'chat_completion', 'streamed_completion', 'unknown_model'];
/** A principal of a tenant that is not the operator. */
export const OTHER: Principal = { ...testPrincipal('ten_2'), tenantName: 'two' };

/**
 * The area on a Postgres of its own. Tables in memory replace deployments, revisions and instances, which are other
 * areas'.
 */
export class Administration {
  /** Holders by revision. */
  readonly holds = new Map<string, Set<string>>();
  /** When a hold ends by itself, by revision and holder. */
  readonly holdEnds = new Map<string, Date | undefined>();
  /** Revisions with the holders that pin them. */
  readonly pins = new Set<string>();
  readonly ready = new Map<string, number>();
  /** Revisions that sleep until a caller needs them. */
  readonly asleep = new Set<string>();
  /** The message shown while a caller waits for a revision. */
  readonly messages = new Map<string, string>();
  /** The reason why the last start of a revision failed. */
  readonly failures = new Map<string, NonNullable<WorkloadStatus['failure']>>();
  /** The reason why a revision's instances are not ready. */
  readonly reasons = new Map<string, ObservationReason>();
  /** The operator file's promises about a revision's engine, and the address of its adopted server. */
  readonly traits = new Map<string, PromisedTraits>();
  readonly adoptedAt = new Map<string, string | string[]>();
  /** The known state of a revision's adopted servers. */
  readonly servers = new Map<string, AdoptedServer[]>();
  /** Revisions whose adopted servers have another model, and since when. */
  readonly drifted = new Map<string, string>();
  /** Calls of targets made while their chain of calls had a transaction open. */
  readonly calledInTransaction: string[] = [];
  private sequence = 0;

  private constructor() {}

  harness!: OperationHarness;

  /**
   * @param change of the configuration, for a test of it
   * @param idleTimeoutMs of the calls to targets, for a test that waits for it
   */
  static async start(change: Partial<Config> = {}, idleTimeoutMs?: number): Promise<Administration> {
    const one = new Administration();
    one.harness = await OperationHarness.start({
      migrations: [...platformMigrations, ...auth, ...dataplane, ...revisions, ...migrations],
      modules: [one.neighbours(idleTimeoutMs), ModelApiAdministrationModule],
      config: {
        operator: { targets: [], secrets: {}, outbound: { suppliers: ['http://127.0.0.1:*'] } } as any,
        ...change,
      },
    });
    one.watchCalls();
    return one;
  }

  async stop(): Promise<void> {
    await this.harness.stop();
    if (this.calledInTransaction.length > 0)
      throw new Error(`inside a transaction: ${this.calledInTransaction.join(', ')}`);
  }

  private watchCalls(): void {
    const { context } = this.harness;
    const nesting = context.get(Database, { strict: false })['nesting'];
    const egress = context.get(Egress, { strict: false });
    const dispatcherOf = egress.dispatcher.bind(egress);
    egress.dispatcher = (allow) =>
      dispatcherOf(allow).compose((dispatch) => (options, handler) => {
        try {
          nesting.assertOutside();
        } catch {
          this.calledInTransaction.push(`${options.method} ${options.path}`);
        }
        return dispatch(options, handler);
      });
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

  async product(who = ADMIN, more: { context_length?: number } = {}): Promise<any> {
    this.sequence += 1;
    return (
      await this.products.create(who, {
        slug: `${who.isOperatorTenant ? 'acme' : who.tenantName}/chat-${this.sequence}`,
        modalities: ['text'],
        supported_parameters: [],
        ...more,
      })
    ).body;
  }

  async supplierBinding(productId: string, baseUrl: string, more: object = {}, who = ADMIN): Promise<any> {
    const target = { supplier: 'zz-sentinel', base_url: baseUrl, model: 'sim', credential: 'sk-zz-sentinel', ...more };
    return (await this.bindings.create(who, { product_id: productId, target })).body;
  }

  /** Adds a revision to the areas in memory. Its instances, `ins_1` and so on, are at the URLs. */
  async revision(revisionId: string, baseUrls: string | string[], key?: PublishedInstance['key']): Promise<void> {
    const urls = [baseUrls].flat();
    this.ready.set(revisionId, urls.length);
    const instances = urls.map((base_url, at) => ({
      id: `ins_${at + 1}`,
      base_url,
      state: 'ready' as const,
      ...(key && { key }),
    }));
    await this.harness.database.tx('system', (tx) =>
      publishBackend(tx, {
        revisionId,
        revisionName: 'dep-00001',
        tenantId: 'ten_1',
        deploymentId: 'dep_1',
        modelId: 'sim',
        instances,
        credential: null,
        guard: this.adoptedAt.has(revisionId) ? { allow: ['http://127.0.0.1:*'] } : null,
      }),
    );
  }

  async qualify(id: string, who = ADMIN): Promise<OperationRecord> {
    return this.harness.finish(who.tenantId, await this.begin(id, who));
  }

  async begin(id: string, who = ADMIN): Promise<string> {
    const reply = await this.bindings.qualify(who, id);
    return JSON.parse((reply.body as { text: string }).text).operation.id;
  }

  private neighbours(idleTimeoutMs: number | undefined): DynamicModule {
    const heldBy = (id: string): Set<string> => this.holds.get(id) ?? this.holds.set(id, new Set()).get(id)!;
    const revision = (id: string) => ({
      id,
      tenantId: 'ten_1',
      deploymentId: 'dep_1',
      number: 1,
      name: 'dep-00001',
      state: 'active',
      specDigest: 'd',
      spec: {
        model: { id },
        endpoint: this.adoptedAt.has(id) ? { base_urls: [this.adoptedAt.get(id)!].flat() } : undefined,
      },
    });
    return neighboursModule([
      ...(idleTimeoutMs === undefined ? [] : [{ provide: CALL_IDLE_TIMEOUT, useValue: idleTimeoutMs }]),
      {
        provide: DEPLOYMENTS,
        useValue: { get: async (_tx: unknown, _tenant: string, name: string) => ({ id: 'dep_1', name }) },
      },
      {
        provide: REVISIONS,
        useValue: {
          find: async (_tx: unknown, _deployment: string, id: string) => revision(id),
          getMany: async (_tx: unknown, ids: string[]) => ids.map(revision),
          pin: async (_tx: unknown, id: string, holder: string) => void this.pins.add(`${id} ${holder}`),
          unpin: async (_tx: unknown, id: string, holder: string) => void this.pins.delete(`${id} ${holder}`),
        },
      },
      {
        provide: INSTANCES,
        useValue: {
          ...startRules,
          traits: ({ model }: RevisionSpec) => this.traits.get(model.id),
          want: async (_tx: unknown, { revisionId }: { revisionId: string }, holder: string) => {
            heldBy(revisionId).add(holder);
            this.asleep.delete(revisionId);
          },
          retain: async (_tx: unknown, id: string, holder: string, until?: Date) => {
            heldBy(id).add(holder);
            this.holdEnds.set(`${id} ${holder}`, until);
          },
          release: async (_tx: unknown, id: string, holder: string) => void heldBy(id).delete(holder),
          status: async (_tx: unknown, id: string) => ({
            desired: Math.max(1, this.servers.get(id)?.length ?? 0),
            ready: this.ready.get(id) ?? 0,
            alive: 1,
            restarts: 0,
            message: this.messages.get(id) ?? null,
            baseUrls: [],
            isAsleep: this.asleep.has(id),
            failure: this.failures.get(id) ?? null,
            reason: this.reasons.get(id) ?? null,
          }),
          driftedSince: async (_tx: unknown, ids: string[]) =>
            new Map([...this.drifted].filter(([id]) => ids.includes(id))),
          adoptedServers: async (_tx: unknown, id: string) => this.servers.get(id) ?? [],
          wakeOnChange: async () => undefined,
        },
      },
    ]);
  }
}

/** A server with a configurable answer. */
export class SupplierServer {
  readonly seen: { method: string; path: string; authorization: string | undefined; body: any }[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param answer handles a request; by default a valid server of the model `sim` */
  static async start(
    answer: (request: { path: string; body: any }, response: ServerResponse) => void = soundAnswer,
    port = 0,
  ): Promise<SupplierServer> {
    const server = createServer((request, response) => void upstream.take(request, response, answer));
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
    const upstream = new SupplierServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
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

export function soundAnswer({ path, body }: { path: string; body: any }, response: ServerResponse): void {
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

export const IGNORING: PromisedTraits = {
  serves: ['chat'],
  unknownModel: 'ignores',
  identity: ['models_list', 'response_model'],
  hasCacheSalt: false,
  readyTimeoutSeconds: 30,
};

/** Behaves like llama-server: it answers every request with its own model. */
export const ignoring = (model: string) =>
  SupplierServer.start(({ path, body }, response) => {
    if (path === '/v1/models') return void response.end(JSON.stringify({ data: [{ id: model }] }));
    if (!body.stream)
      return void response.end(
        JSON.stringify({ model, choices: [{ message: { content: null, reasoning_content: 'x' } }] }),
      );
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n');
  });

/** It has one model, `large`, and knows no other. */
export const refusing = (path: string, body: any, response: ServerResponse) => {
  if (path === '/v1/models') return void response.end(JSON.stringify({ data: [{ id: 'large' }] }));
  const error = { error: { message: `no model ${body.model}` } };
  response.writeHead(404).end(JSON.stringify(error));
};
