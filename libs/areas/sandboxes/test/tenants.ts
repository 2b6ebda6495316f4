import { TokenService } from '@slipway/platform-http/auth';
import { Database, newId } from '@slipway/platform-database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** Creates a tenant of the test's own, with a token. */
export async function newTenant(app: NestFastifyApplication): Promise<{ tenantId: string; token: string }> {
  const database = app.get(Database, { strict: false });
  const tokens = app.get(TokenService, { strict: false });
  const tenantId = newId('ten');
  return database.tx('system', async (tx) => {
    await tx.query('insert into tenants (id, name) values ($1, $1)', [tenantId]);
    const { text } = await tokens.create(tx, {
      tenantId,
      name: 't',
      scopes: ['admin'],
      expiresAt: new Date(Date.now() + 3_600_000),
      createdBy: 'token:test',
      owner: { type: 'person', id: 'alice' },
      minters: [],
    });
    return { tenantId, token: text! };
  });
}

export interface SandboxAnswer {
  status: number;
  headers: Record<string, string>;
  body: any;
  bytes: Buffer;
}

/** Returns a client of one tenant. */
export function clientOf(origin: string, token: string) {
  return async (
    method: string,
    path: string,
    options: { json?: unknown; body?: any; headers?: Record<string, string> } = {},
  ): Promise<SandboxAnswer> => {
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    const type = options.json === undefined ? 'application/octet-stream' : 'application/json';
    const answer = await fetch(`${origin}/api/v1${path}`, {
      method,
      body,
      duplex: 'half',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': type }),
        ...options.headers,
      },
    } as RequestInit);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: isJson ? JSON.parse(bytes.toString()) : undefined,
      bytes,
    };
  };
}
export type SandboxClient = ReturnType<typeof clientOf>;

/** Polls until `probe` returns a value. */
export async function eventually<T>(
  probe: () => Promise<T | undefined | false>,
  what: string,
  withinMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
