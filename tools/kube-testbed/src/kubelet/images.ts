import { fileURLToPath } from 'node:url';

/** How nodes of the bed treat an image. */
export interface Image {
  /**
   * The program that runs instead of the one in the pod's command; the remaining command becomes its arguments. If
   * absent, the pod's own command runs unchanged.
   */
  command?: readonly string[];
  /** Whether the program needs arguments for its listen address, which the pod may omit. */
  listens?: boolean;
  /** The duration of the pull, or `never`. */
  pull?: { afterMs: number } | 'never';
  /** The reason that a kubelet reports for a SIGKILL that it did not send. */
  killedAs?: 'OOMKilled';
}

const SIMULATOR = fileURLToPath(new URL('../../../inference-sim/dist/main.js', import.meta.url));
const ENGINE = fileURLToPath(new URL('../../programs/engine.mjs', import.meta.url));

const simulator = { command: [process.execPath, SIMULATOR], listens: true };
const engine = (part: string): Image => ({ command: [process.execPath, ENGINE, part], listens: true });

/** The images that every node knows. A test can add more; any other image cannot be pulled. */
export const IMAGES: Readonly<Record<string, Image>> = {
  /** The simulator of tools/inference-sim, which must be built. */
  'test/sim': simulator,
  /** The same, after a pull of two seconds. */
  'test/slow': { ...simulator, pull: { afterMs: 2_000 } },
  'test/absent': { pull: 'never' },
  /** Ends by SIGKILL while it loads. */
  'test/oom': { ...engine('oom'), killedAs: 'OOMKilled' },
  /** Ends with 3 while it loads. */
  'test/crash': engine('crash'),
  /** Ends with 0. */
  'test/done': engine('done'),
  /** Answers with its own arguments and environment. */
  'test/echo': engine('echo'),
  /** Healthy while the file of `--healthy-file` exists. */
  'test/steered': engine('steered'),
  /** Ignores SIGTERM. */
  'test/stubborn': engine('stubborn'),
  /** Writes `--lines`, then `--per-second`. */
  'test/talk': engine('talk'),
  /** Runs the pod's own command, such as `[sh, -c, …]`. */
  'test/any': {},
};

/** `registry:5000/test/sim:v1@sha256:…` → `test/sim`. */
export function nameOfImage(reference: string): string {
  const [path = ''] = reference.split('@');
  const untagged = path.replace(/:[^/:]*$/, '');
  const parts = untagged.split('/');
  const hasRegistry = parts.length > 1 && /[.:]|^localhost$/.test(parts[0] as string);
  return (hasRegistry ? parts.slice(1) : parts).join('/');
}

/** Checks only as much as a kubelet does before it contacts a registry: no capitals, no blanks. */
export function isImageReference(reference: string): boolean {
  return /^[a-z0-9][a-z0-9._:/-]*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?$/.test(reference);
}

/**
 * The command line of a container, as its image understands it. A pod has its own network, in which engines listen on
 * all addresses. Here all pods share one network, so "all addresses" becomes the pod's address.
 */
export function commandLine(image: Image, argv: readonly string[], hasCommand: boolean, address: string): string[] {
  const here = argv.map((one) => one.replace(/^((?:--[a-z-]+=)?)(?:0\.0\.0\.0|\[::\])$/, `$1${address}`));
  if (!image.command) return here;
  const given = hasCommand ? here.slice(1) : here;
  const isTold = given.some((one) => one === '--host' || one.startsWith('--host='));
  return [...image.command, ...given, ...(image.listens && !isTold ? ['--host', address] : [])];
}
