import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from './builder.js';
import { variablesIn, type Variables } from './compose.js';

const DOCKER = path.join(ROOT, 'docker');
const FILES = ['compose.yaml', 'haproxy.cfg', 'postgres-init.sh', 'slipway.config.yaml'];
/** An allowed origin in slipway.config.yaml. An operator adds others next to it. */
const EXAMPLE_ORIGIN = '      - https://*.inference.example.com\n';

/** A folder with compose.yaml, the files that it mounts and `.env`, as an operator prepares it. */
export class Project {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'slipway-compose-'));
  readonly variables: Variables;

  /**
   * @param origins model servers that deployments may use
   * @param settings lines of `.env` in addition to the required ones
   */
  constructor(origins: readonly string[], settings: Record<string, string>) {
    // Containers read these files as other users.
    chmodSync(this.folder, 0o755);
    for (const file of FILES) cpSync(path.join(DOCKER, file), this.at(file));
    this.allow(origins);
    const filled = readFileSync(path.join(DOCKER, '.env.example'), 'utf8').replaceAll(/^(\w+)=$/gm, fill);
    const more = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(this.at('.env'), [filled, ...more].join(''), { mode: 0o600 });
    this.variables = variablesIn(readFileSync(this.at('.env'), 'utf8'));
  }

  at(name: string): string {
    return path.join(this.folder, name);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private allow(origins: readonly string[]): void {
    const text = readFileSync(this.at('slipway.config.yaml'), 'utf8');
    if (!text.includes(EXAMPLE_ORIGIN)) throw new Error('slipway.config.yaml allows another origin than expected');
    const lines = origins.map((origin) => `      - ${origin}\n`).join('');
    writeFileSync(this.at('slipway.config.yaml'), text.replace(EXAMPLE_ORIGIN, EXAMPLE_ORIGIN + lines));
  }
}

/** As the comments in .env.example say. */
function fill(_line: string, name: string): string {
  if (name === 'SLIPWAY_SECRET_KEY') return `${name}=${randomBytes(32).toString('base64')}`;
  if (name === 'SLIPWAY_BOOTSTRAP_TOKEN') return `${name}=slw_bootstrap_${randomBytes(32).toString('hex')}`;
  return `${name}=${randomBytes(24).toString('hex')}`;
}
