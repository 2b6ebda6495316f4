import 'reflect-metadata';
import vm from 'node:vm';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { serveOpenApi, SlipwayHttpAdapter } from '../src/index.js';
import { SampleModule } from './sample.controller.js';

/** The reading view, and what a browser allows it to do. No browser runs: the tests check the page and its headers. */
let app: NestFastifyApplication;
let origin: string;

beforeAll(async () => {
  app = await NestFactory.create<NestFastifyApplication>(SampleModule, new SlipwayHttpAdapter(), { logger: false });
  serveOpenApi(app);
  await app.listen(0, '127.0.0.1');
  origin = await app.getUrl();
});
afterAll(() => app?.close());

function policyOf(answer: Response): Map<string, string[]> {
  const directives = (answer.headers.get('content-security-policy') ?? '')
    .split(';')
    .map((one) => one.trim().split(' '));
  return new Map(directives.map(([name = '', ...sources]) => [name, sources]));
}
/** Reads an answer to its end. An unread answer keeps its connection open, and with it the server. */
async function whole(...asked: Parameters<typeof fetch>): Promise<Response> {
  const answer = await fetch(...asked);
  await answer.arrayBuffer();
  return answer;
}
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, one]) => one as string);

it.each([
  '/',
  '/?x=1',
  '/docs',
  '/docs/',
  '/docs/index.html',
  '/docs?x=1',
  '/openapi.json',
  '/docs/swagger-ui-init.js',
])('%s allows no framing, sends no referrer, and fixes its content type', async (path) => {
  const answer = await whole(origin + path);
  expect(answer.status).toBe(200);
  const policy = policyOf(answer);
  expect(policy.get('default-src')).toEqual(["'self'"]);
  for (const name of ['frame-ancestors', 'base-uri', 'object-src', 'form-action'])
    expect([name, policy.get(name)]).toEqual([name, ["'none'"]]);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

it.each(['GET', 'HEAD'])('redirects a browser that opens / with %s to /docs', async (method) => {
  const answer = await whole(`${origin}/`, { method, headers: { accept: BROWSER }, redirect: 'manual' });
  expect([answer.status, answer.headers.get('location'), answer.headers.get('vary')]).toEqual([302, '/docs', 'accept']);
  expect(policyOf(answer).get('default-src')).toEqual(["'self'"]);
});

it.each(['*/*', 'application/json', undefined])(
  'answers a program (accept: %s) at / with links to everything',
  async (accept) => {
    const headers = accept === undefined ? undefined : { accept };
    const answer = await fetch(`${origin}/`, { headers, redirect: 'manual' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const links = (await answer.json()) as Record<string, string>;
    expect(links).toEqual({
      name: 'slipway',
      docs: '/docs',
      openapi: '/openapi.json',
      health: '/healthz',
      api: '/api/v1',
    });
    for (const path of ['docs', 'openapi', 'health']) expect((await whole(origin + links[path])).status).toBe(200);
    const head = await fetch(`${origin}/`, { method: 'HEAD', headers, redirect: 'manual' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  },
);

it('/ accepts no other method, and lists the allowed ones', async () => {
  const answer = await whole(`${origin}/`, { method: 'POST', body: '{}' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

/** Returns the settings that the page passes to its library, by running the page's script. */
async function settingsOfView(): Promise<any> {
  const source = await (await fetch(`${origin}/docs/swagger-ui-init.js`)).text();
  let settings: unknown;
  const window = { location: { search: '', origin }, onload: () => undefined };
  const library = (given: unknown): object => {
    settings = given;
    return {};
  };
  const SwaggerUIBundle = Object.assign(library, { presets: { apis: [] }, plugins: { DownloadUrl: {} } });
  vm.runInNewContext(source, { window, SwaggerUIBundle, SwaggerUIStandalonePreset: {} });
  window.onload();
  return settings;
}

it('the view keeps the token over a reload, allows trying at once, and calls no other origin', async () => {
  expect(await settingsOfView()).toMatchObject({
    persistAuthorization: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    spec: { openapi: '3.1.0', servers: [{ url: '/' }] },
  });
});

/** The areas that the specification fixes, in its order. */
const AREAS =
  `Admission, Adoption, Alerts, Async inference, Audit, Autopilot, Benchmarks, Billing, Billing administration,
Burst Guard, Capacity intelligence, Compute, Context Passport, Deployments, Diagnostics, Endpoints, External capacity,
FinOps, Identity, Inference, Inference Lab, Inference decisions, Inference optimization, Infrastructure,
Marketplace administration, Model API administration, Model APIs, Model artifacts, Model catalog, Monitoring,
Operations, Planning, Providers, Recipes, Release Guard, Release evidence, Replay, Revisions, Routing, Sandboxes,
Scaling, Secrets, System, Targets, Training lineage`.split(/,\s/);

it('the view has no empty heading and no list of schemas, but the document keeps every area', async () => {
  const { spec, defaultModelsExpandDepth } = await settingsOfView();
  expect(defaultModelsExpandDepth).toBe(-1);
  // The published routes of the sample module have these two tags.
  expect(spec.tags.map(({ name }: { name: string }) => name)).toEqual(['Deployments', 'System']);
  const document: any = await (await fetch(`${origin}/openapi.json`)).json();
  expect(document.tags.map(({ name }: { name: string }) => name)).toEqual(AREAS);
  expect(AREAS).toHaveLength(45);
});

it('sends no content policy on other paths', async () => {
  for (const path of ['/docsx', '/api/v1/none']) {
    const answer = await whole(origin + path);
    expect([path, answer.headers.get('content-security-policy')]).toEqual([path, null]);
  }
});

it('the page runs only files of its own origin, which its policy allows and this server has', async () => {
  const answer = await fetch(`${origin}/docs`);
  const page = await answer.text();
  const policy = policyOf(answer);
  // Scripts fall back to `default-src`: no inline code, no `eval`, no other origin.
  expect([policy.get('script-src'), policy.get('script-src-elem'), policy.get('connect-src')]).toEqual(
    Array(3).fill(undefined),
  );
  const scripts = all(page, /<script\b([^>]*)>/g);
  const sources = all(page, /<script\b[^>]*\bsrc="([^"]+)"/g);
  expect(scripts.length).toBeGreaterThan(0);
  expect(sources).toHaveLength(scripts.length);
  expect(all(page, /<script\b[^>]*>([^<]*)<\/script>/g).map((inline) => inline.trim())).toEqual(sources.map(() => ''));
  expect(page).not.toMatch(/\son\w+\s*=|javascript:|<iframe|<object|<embed|<base/i);
  const styles = all(page, /<link\b[^>]*\bhref="([^"]+)"/g);
  for (const [kind, source] of [...sources.map((one) => ['javascript', one]), ...styles.map((one) => ['', one])]) {
    const url = new URL(source as string, `${origin}/docs`);
    expect([source, url.origin]).toEqual([source, new URL(origin).origin]);
    const file = await fetch(url);
    await file.arrayBuffer();
    expect([source, file.status, file.headers.get('content-type')]).toEqual([
      source,
      200,
      expect.stringContaining(kind as string),
    ]);
  }
});
