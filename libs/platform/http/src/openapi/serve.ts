import type { INestApplication } from '@nestjs/common';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { wantsPage } from '../server/browser-pages.js';
import { SlipwayHttpAdapter } from '../server/http-adapter.js';
import { buildOpenApi } from './document.js';
import { operationsOf } from './operations.js';

/**
 * Content policy of the reading view: it may run its own files and call its own origin, and no page may frame it. Its
 * library writes styles into the page, so inline styles are allowed, and it draws arrows from `data:`.
 */
const DOCS_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Settings of the reading view (swagger-ui). It has no list of all schemas, which would be as long as everything before
 * it. Each schema is shown at the operations that use it. It has no validator, which would send requests to another
 * origin.
 */
const VIEW = {
  persistAuthorization: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
};

/** The answer at the root. The application itself serves the health paths. */
const LINKS = { name: 'slipway', docs: '/docs', openapi: '/openapi.json', health: '/healthz', api: '/api/v1' };

/**
 * Serves the document at `/openapi.json`, its reading view at `/docs` and links to both at `/`, all without a token.
 * Call it before `listen`.
 */
export function serveOpenApi(app: INestApplication, options: { docs?: boolean } = {}): OpenAPIObject {
  const hasDocs = options.docs ?? true;
  const document = buildOpenApi(app);
  const text = JSON.stringify(document);
  const adapter = app.getHttpAdapter();
  const instance = adapter.getInstance() as FastifyInstance;
  // Applies to the routes that are added below, and to no other request.
  instance.addHook('onRoute', (route) => {
    if (/^\/(?:$|docs(?:\/|$)|openapi\.json$)/.test(route.url))
      route.onRequest = [sendDocsPolicy, ...[route.onRequest ?? []].flat()];
  });
  instance.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
  instance.get('/', (request, reply) => {
    void reply.header('vary', 'accept');
    const pages = adapter instanceof SlipwayHttpAdapter ? adapter.pages : undefined;
    if (pages && wantsPage(request)) return pages.answer(request, reply);
    if (hasDocs && wantsPage(request)) return reply.redirect(LINKS.docs, 302);
    return reply.send(LINKS);
  });
  if (hasDocs)
    SwaggerModule.setup('docs', app, withoutEmptyTags(document), {
      raw: false,
      customSiteTitle: 'Slipway API',
      swaggerOptions: VIEW,
    });
  return document;
}

const sendDocsPolicy: onRequestHookHandler = (_request, reply, done) => {
  void reply.headers({
    'content-security-policy': DOCS_POLICY,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  });
  done();
};

/**
 * Removes tags without an operation. The specification names every area as a tag, but the view would show an empty
 * heading for each unused one.
 */
function withoutEmptyTags(document: OpenAPIObject): OpenAPIObject {
  const used = new Set(operationsOf(document).flatMap(({ operation }) => operation['tags'] as string[]));
  return { ...document, tags: document.tags?.filter(({ name }) => used.has(name)) };
}
