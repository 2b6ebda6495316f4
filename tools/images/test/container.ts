import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** The settings of an image for its process, as `buildah inspect` prints them. */
export interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[] | null;
  Cmd: string[];
  WorkingDir: string;
  Labels: Record<string, string>;
  Healthcheck?: { Test: string[] };
}

/** An image that is unpacked into a folder. */
export interface UnpackedImage {
  root: string;
  config: ImageConfig;
}

/** The launcher gives these to a container. A probe of each must fail if it does not. */
export const FEATURES = [
  'user',
  'environment',
  'read-only root',
  'no capabilities',
  'own network',
  'own root',
] as const;
export type Feature = (typeof FEATURES)[number];

export interface ContainerOptions {
  /** A network namespace that exists. */
  network: string;
  /** Replaces the command of the image. */
  command?: string[];
  env?: Record<string, string>;
  /** `source:target[:ro]`, as in a Compose file. */
  volumes?: string[];
  without?: Feature;
}

/** Mounts what a container sees, and becomes its process. Arguments: root, folder, user, feature to leave out, volumes, `--`, command. */
const LAUNCH = `set -eu
root=$1 folder=$2 user=$3 without=$4; shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  from=\${1%%:*} rest=\${1#*:}; to=\${rest%%:*}; shift
  if [ -d "$from" ]; then mkdir -p "$root$to"; else mkdir -p "\${root}\${to%/*}"; [ -e "$root$to" ] || : > "$root$to"; fi
  mount --bind "$from" "$root$to"
  case $rest in *:ro) mount -o remount,bind,ro "$root$to" ;; esac
done
shift
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do : > "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
[ "$without" = 'read-only root' ] || mount -o remount,bind,ro "$root"
[ "$without" = user ] && user=0:0
drop="--bounding-set=-all --inh-caps=-all --no-new-privs"
[ "$without" = 'no capabilities' ] && drop=--keep-groups && user=0:0
[ "$drop" = --keep-groups ] || drop="$drop --clear-groups"
[ "$without" = 'own root' ] && exec setpriv --reuid "\${user%:*}" --regid "\${user#*:}" $drop "$@"
exec unshare --root="$root" --wd="$folder" setpriv --reuid "\${user%:*}" --regid "\${user#*:}" $drop "$@"`;

/** A process with the root, user, variables and health check of its image, started without a container engine. */
export class Container {
  private constructor(
    private readonly launcher: ChildProcess,
    private readonly image: UnpackedImage,
    private readonly env: Record<string, string>,
    private readonly log: { text: string },
  ) {}

  static start(image: UnpackedImage, options: ContainerOptions): Container {
    const { User, Env, Entrypoint, Cmd, WorkingDir } = image.config;
    const { network, command = Cmd, volumes = [], without } = options;
    const own = Object.fromEntries(
      Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const env = without === 'environment' ? { PATH: own['PATH']! } : { ...own, ...options.env };
    const enter = without === 'own network' ? [] : ['ip', 'netns', 'exec', network];
    const words = [
      ...enter,
      ...['unshare', '--mount', '--pid', '--uts', '--ipc', '--fork', '--kill-child', 'sh', '-c', LAUNCH, 'launch'],
      ...[image.root, WorkingDir || '/', User || '0:0', without ?? '', ...volumes, '--'],
      ...(Entrypoint ?? []),
      ...command,
    ];
    const launcher = spawn(words[0]!, words.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const log = { text: '' };
    for (const stream of [launcher.stdout!, launcher.stderr!])
      stream.on('data', (chunk) => (log.text = (log.text + String(chunk)).slice(-50_000)));
    return new Container(launcher, image, env, log);
  }

  get output(): string {
    return this.log.text;
  }

  get hasEnded(): boolean {
    return this.launcher.exitCode !== null || this.launcher.signalCode !== null;
  }

  /** The process of the container, as this machine numbers it. */
  get pid(): number {
    const { pid } = this.launcher;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  }

  /** Resolves when the launcher has become the command. */
  async started(): Promise<void> {
    const end = Date.now() + 120_000;
    while (!this.hasBecomeItself()) {
      if (this.hasEnded) throw new Error(`the container ended: ${this.output}`);
      if (Date.now() > end) throw new Error(`the container does not start: ${this.output}`);
      await delay(50);
    }
  }

  private hasBecomeItself(): boolean {
    try {
      return !['sh', 'ip', 'unshare', 'setpriv'].includes(this.commandLine[0]!);
    } catch {
      return false;
    }
  }

  /** Whether the process finds a file at this absolute path. */
  seesAsRoot(file: string): boolean {
    return existsSync(`/proc/${this.pid}/root${file}`);
  }

  /** A line of /proc/<pid>/status. */
  status(name: string): string | undefined {
    return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1];
  }

  get commandLine(): string[] {
    return readFileSync(`/proc/${this.pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  }

  get environment(): string[] {
    return readFileSync(`/proc/${this.pid}/environ`, 'utf8').split('\0').slice(0, -1);
  }

  namespace(kind: 'net' | 'mnt' | 'pid'): string {
    return readlinkSync(`/proc/${this.pid}/ns/${kind}`);
  }

  /** Runs a command in the container as root, as `docker exec --user root` does. @returns its exit status */
  async run(command: string[], user: [string, string] = ['0', '0']): Promise<number> {
    const enter = ['--target', String(this.pid), '--mount', '--net', '--pid', '--root', '--wd'];
    const words = [...enter, '--setgid', user[1], '--setuid', user[0], ...command];
    return promisify(execFile)('nsenter', words, { env: this.env }).then(
      () => 0,
      (error: { code?: number }) => error.code ?? -1,
    );
  }

  /** The HEALTHCHECK of the image. */
  async isHealthy(): Promise<boolean> {
    const [kind, ...command] = this.image.config.Healthcheck?.Test ?? [];
    if (kind !== 'CMD') throw new Error(`the image has no HEALTHCHECK with a CMD: ${kind}`);
    const [user = '0', group = '0'] = this.image.config.User.split(':');
    return (await this.run(command, [user, group])) === 0;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.hasEnded) return this.launcher.exitCode;
    const end = once(this.launcher, 'exit');
    process.kill(this.pid, signal);
    await end;
    return this.launcher.exitCode;
  }
}

/** A bridge on this machine, and network namespaces that are connected to it. */
export class Network {
  private readonly members: string[] = [];

  constructor(
    private readonly name: string,
    /** The first three numbers of its addresses. */
    private readonly prefix: string,
  ) {
    ip('link', 'add', name, 'type', 'bridge');
    ip('address', 'add', `${this.gateway}/24`, 'dev', name);
    ip('link', 'set', name, 'up');
  }

  /** The address of this machine in the network. */
  get gateway(): string {
    return `${this.prefix}.1`;
  }

  /** Creates a namespace. @returns its name and its address in the network */
  join(): { network: string; address: string } {
    const number = this.members.length + 10;
    const network = `${this.name}-${number}`;
    const [outside, inside] = [`${this.name}o${number}`, `${this.name}i${number}`];
    const address = `${this.prefix}.${number}`;
    ip('netns', 'add', network);
    this.members.push(network);
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', network);
    ip('link', 'set', outside, 'master', this.name, 'up');
    ip('-n', network, 'address', 'add', `${address}/24`, 'dev', inside);
    ip('-n', network, 'link', 'set', inside, 'up');
    ip('-n', network, 'link', 'set', 'lo', 'up');
    return { network, address };
  }

  remove(): void {
    for (const member of this.members) ip('netns', 'delete', member);
    ip('link', 'delete', this.name);
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args);
}
