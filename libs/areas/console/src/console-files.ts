import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import staticFiles from '@fastify/static';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { type BrowserPages, errors } from '@slipway/platform-http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * The build of the installation that this file is part of. By path: the api serves the output of the console's own
 * build, and imports none of it.
 */
const BUILT = fileURLToPath(new URL('../../../../apps/console/dist/', import.meta.url));

/** First segments of paths that other parts of the api serve. An unknown path below them is an error and no page. */
const OTHERS = new Set(['api', 'console', 'docs', 'assets', 'healthz', 'readyz', 'metrics', 'openapi.json']);

/**
 * Nothing from other origins, no inline script or style, no frame. The policy does not cover styles that scripts set on
 * elements.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const NOT_BUILT = `<!doctype html>
<html lang="en">
<title>Slipway</title>
<h1>The console is not built</h1>
<p>This installation has no console files. Run <code>npm run build</code>, then restart the API.</p>
<p>Everything else is available: the <a href="/docs">API documentation</a> and the command <code>slipway</code>.</p>
</html>
`;

/** The console's page at `/` and at its deep links, and the files that it loads from `/assets`. */
@Injectable()
export class ConsoleFiles implements BrowserPages {
  private readonly root: string;
  private readonly areBuilt: boolean;

  constructor(@Inject(CONFIG) { console: { files } }: Pick<Config, 'console'>) {
    this.root = files ?? BUILT;
    this.areBuilt = existsSync(path.join(this.root, 'index.html'));
  }

  has(asked: string): boolean {
    return asked === '/' || (this.areBuilt && !OTHERS.has(asked.split('/', 2)[1] ?? ''));
  }

  /** Read each time: a build that replaces the files while the api runs names other assets. */
  async answer(_request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    void reply
      .type('text/html; charset=utf-8')
      .headers({
        vary: 'accept',
        'cache-control': 'no-store',
        'content-security-policy': POLICY,
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
    if (!this.areBuilt) return reply.send(NOT_BUILT);
    const page = await readFile(path.join(this.root, 'index.html'), 'utf8').catch((cause: unknown) => {
      throw errors.unavailable({ message: 'The console files cannot be read.', cause });
    });
    return reply.send(page);
  }

  /** The names of assets hold a hash of their content, so they never change. */
  serveAssets(instance: FastifyInstance): void {
    const root = path.join(this.root, 'assets');
    if (!existsSync(root)) return;
    void instance.register(staticFiles, {
      root,
      prefix: '/assets/',
      decorateReply: false,
      dotfiles: 'ignore',
      index: false,
      preCompressed: true,
      immutable: true,
      maxAge: '1y',
    });
  }
}
