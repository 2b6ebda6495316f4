import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const PORT = 18_080;

/** Starts nginx as a proxy with kept-alive upstream connections, if a binary is on the PATH. */
export async function startNginx(upstream: string): Promise<{ url: string; stop(): void } | undefined> {
  if (spawnSync('nginx', ['-v']).error) return undefined;
  const home = mkdtempSync(path.join(tmpdir(), 'slipway-nginx-'));
  const file = path.join(home, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 1024; }
http { access_log off; client_body_temp_path ${home}/b; proxy_temp_path ${home}/p;
  upstream model { server ${new URL(upstream).host}; keepalive 64; }
  server { listen 127.0.0.1:${PORT}; keepalive_requests 1000000;
    location / { proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } } }\n`,
  );
  const child = spawn('nginx', ['-c', file, '-p', home], { stdio: 'ignore' });
  const stop = (): void => {
    child.kill('SIGTERM');
    rmSync(home, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + 5_000; !(await answers()); await delay(20)) {
    if (Date.now() < deadline && child.exitCode === null) continue;
    stop();
    return undefined;
  }
  return { url: `http://127.0.0.1:${PORT}`, stop };
}

function answers(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PORT, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
