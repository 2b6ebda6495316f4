import { execFile, spawn, type ChildProcess } from 'node:child_process';
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
  hostname?: string;
  /** Replaces the command of the image. */
  command?: string[];
  env?: Record<string, string>;
  /** `source:target[:ro]`, as in a Compose file. */
  volumes?: string[];
  /** Folders in memory, in addition to /tmp. */
  tmpfs?: string[];
  /** Replaces the user of the image. */
  user?: string;
  /** Replaces the health check of the image. `[]`: none. */
  healthcheck?: string[];
  without?: Feature;
}

/**
 * Mounts what a container sees, and becomes its process. Arguments: root, folder, user, name of the host, feature to
 * leave out, mounts, `--`, command. A mount is `source:target[:ro]`, or `tmpfs:target`.
 */
const LAUNCH = `set -eu
root=$1 folder=$2 user=$3 without=$5
echo "$4" > /proc/sys/kernel/hostname
shift 5
mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  from=\${1%%:*} rest=\${1#*:}; to=\${rest%%:*}; shift
  if [ "$from" = tmpfs ]; then mkdir -p "$root$to"; mount -t tmpfs -o mode=1777 tmpfs "$root$to"; continue; fi
  if [ -d "$from" ]; then mkdir -p "$root$to"; else mkdir -p "\${root}\${to%/*}"; [ -e "$root$to" ] || : > "$root$to"; fi
  mount --bind "$from" "$root$to"
  case $rest in *:ro) mount -o remount,bind,ro "$root$to" ;; esac
done
shift
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
for device in null zero full random urandom; do : > "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
[ "$without" = 'read-only root' ] || mount -o remount,bind,ro "$root"
[ "$without" = user ] && user=0:0
drop="--bounding-set=-all --inh-caps=-all --no-new-privs --pdeathsig KILL"
[ "$without" = 'no capabilities' ] && drop=--keep-groups && user=0:0
[ "$drop" = --keep-groups ] || drop="$drop --clear-groups"
[ "$without" = 'own root' ] && exec setpriv --reuid "\${user%:*}" --regid "\${user#*:}" $drop "$@"
exec unshare --root="$root" --wd="$folder" setpriv --reuid "\${user%:*}" --regid "\${user#*:}" $drop "$@"`;

/** A process with the root, user, variables and health check of its image, started without a container engine. */
export class Container {
  /** The exit status of the process. */
  readonly ended: Promise<number | null>;

  private constructor(
    private readonly launcher: ChildProcess,
    private readonly user: string,
    private readonly healthcheck: string[],
    private readonly env: Record<string, string>,
    private readonly log: { text: string },
  ) {
    this.ended = new Promise((resolve) => launcher.once('exit', resolve));
  }

  static start(image: UnpackedImage, options: ContainerOptions): Container {
    const { User, Env, Entrypoint, Cmd, WorkingDir } = image.config;
    const { network, hostname = network, command = Cmd, volumes = [], tmpfs = [], user = User, without } = options;
    const { healthcheck = image.config.Healthcheck?.Test ?? [] } = options;
    const own = Object.fromEntries(
      Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const env = without === 'environment' ? { PATH: own['PATH']! } : { ...own, ...options.env };
    const enter = without === 'own network' ? [] : ['ip', 'netns', 'exec', network];
    const words = [
      // A container ends with the test, even if that is killed.
      ...['setpriv', '--pdeathsig', 'KILL', ...enter],
      ...['unshare', '--mount', '--pid', '--uts', '--ipc', '--fork', '--kill-child', 'sh', '-c', LAUNCH, 'launch'],
      ...[image.root, WorkingDir || '/', user || '0:0', hostname, without ?? ''],
      ...[...volumes, ...tmpfs.map((folder) => `tmpfs:${folder}`), '--'],
      ...(Entrypoint ?? []),
      ...command,
    ];
    const launcher = spawn(words[0]!, words.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const log = { text: '' };
    for (const stream of [launcher.stdout!, launcher.stderr!])
      stream.on('data', (chunk) => (log.text = (log.text + String(chunk)).slice(-50_000)));
    return new Container(launcher, user, healthcheck, env, log);
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

  get hasHealthcheck(): boolean {
    return this.healthcheck.length > 0;
  }

  async isHealthy(): Promise<boolean> {
    const [kind, ...words] = this.healthcheck;
    if (kind !== 'CMD' && kind !== 'CMD-SHELL') throw new Error(`unknown health check: ${this.healthcheck.join(' ')}`);
    const [user = '0', group = '0'] = this.user.split(':');
    return (await this.run(kind === 'CMD' ? words : ['sh', '-c', ...words], [user, group])) === 0;
  }

  /** Sends the signal, and SIGKILL if the process has not ended after this time. @returns the exit status */
  async stop(signal: NodeJS.Signals = 'SIGTERM', graceSeconds = 600): Promise<number | null> {
    if (this.hasEnded) return this.ended;
    process.kill(this.pid, signal);
    const late = setTimeout(() => process.kill(this.pid, 'SIGKILL'), graceSeconds * 1_000);
    return this.ended.finally(() => clearTimeout(late));
  }
}
