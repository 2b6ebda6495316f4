import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { listen } from './listen.js';

// The minimal read with a bearer check: no framework, no roles, one named statement for token and row.
const pool = new pg.Pool({ connectionString: process.argv[2] as string, max: 10 });
const text = `select k.secret_sha256, k.scopes, k.expires_at, k.revoked_at, o.id, o.kind, o.status, o.progress, o.attempt, o.max_attempts, o.cancel_requested,
    o.created_at, o.updated_at, o.current_step, o.message, o.resource_name, o.resource_type, o.result, o.retryable, o.requested_by
  from api_tokens k left join operations o on o.id = $2 and o.tenant_id = k.tenant_id where k.id = $1`;

const server = createServer((request, response) => {
  const [, id = '', secret = ''] = /^Bearer slw_([^_]+)_(.+)$/.exec(request.headers.authorization ?? '') ?? [];
  const operation = (request.url as string).slice(request.url!.lastIndexOf('/') + 1);
  pool.query({ name: 'read', text, values: [`tok_${id}`, operation] }).then(
    ({ rows: [row] }) => {
      const isKnown =
        row &&
        !row.revoked_at &&
        row.expires_at > new Date() &&
        timingSafeEqual(createHash('sha256').update(secret).digest(), row.secret_sha256);
      if (!isKnown || row.id === null) return response.writeHead(isKnown ? 404 : 401).end();
      const { secret_sha256: _hash, scopes: _scopes, expires_at: _expires, revoked_at: _revoked, ...record } = row;
      const body = JSON.stringify(record);
      return response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        .end(body);
    },
    () => response.writeHead(500).end(),
  );
});
listen(server);
