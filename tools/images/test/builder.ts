import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import type { UnpackedImage } from './container.js';

export const ROOT = path.resolve(import.meta.dirname, '../../..');
export const TARGETS = ['api', 'worker', 'gateway'] as const;

/** An image in a folder of its own, which `remove` removes. */
export interface MountedImage extends UnpackedImage {
  container: string;
}

export interface Builder {
  baseImage(): string;
  nameOf(target: string): string;
  unpack(target: string): MountedImage;
  remove(container: string): void;
  bytesIn(folder: string): number;
}

const PROGRAM = path.join(ROOT, 'tools/images/build.mjs');
export const builder = (await import(PROGRAM)) as Builder;

/** The programs that are missing here, or `root`. */
export function missing(...programs: string[]): string[] {
  const absent = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined);
  return process.getuid?.() === 0 ? absent : ['root', ...absent];
}

/**
 * Suites with containers run one at a time: a build would disturb one that counts lost requests. @returns a function
 * that lets the next suite run
 */
export async function takeMachine(): Promise<() => void> {
  const lock = path.join(homedir(), '.cache/slipway/containers.lock');
  mkdirSync(path.dirname(lock), { recursive: true });
  // It also ends if this process is killed.
  const holder = spawn('flock', [lock, 'sh', '-c', 'echo locked; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  return () => void holder.stdin.end();
}

/** Builds all images with equal times of files. Layers of an earlier build are kept. */
export function buildImages(env: NodeJS.ProcessEnv = process.env): void {
  execFileSync(process.execPath, [PROGRAM, '--timestamp', '0'], { env, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** The digests of the layers of an image. */
export function layersOf(target: string, env: NodeJS.ProcessEnv = process.env): string[] {
  const text = buildah(['inspect', '--type', 'image', builder.nameOf(target)], env);
  return (JSON.parse(text) as { OCIv1: { rootfs: { diff_ids: string[] } } }).OCIv1.rootfs.diff_ids;
}

/** A storage of images that holds only the base, so that a build in it takes no layer of an earlier one. */
export class FreshStorage {
  readonly env: NodeJS.ProcessEnv;
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'slipway-storage-'));

  constructor() {
    const config = path.join(this.folder, 'storage.conf');
    const [graph, run] = ['graph', 'run'].map((name) => path.join(this.folder, name));
    writeFileSync(config, `[storage]\ndriver = "overlay"\ngraphroot = "${graph}"\nrunroot = "${run}"\n`);
    this.env = { ...process.env, CONTAINERS_STORAGE_CONF: config };
    const { store } = JSON.parse(buildah(['info'])) as { store: Record<string, string> };
    const location = `${store['GraphDriverName']}@${store['GraphRoot']}+${store['RunRoot']}`;
    buildah(['pull', '--quiet', `containers-storage:[${location}]${builder.baseImage()}`], this.env);
  }

  remove(): void {
    buildah(['rmi', '--all', '--force'], this.env);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function buildah(words: string[], env: NodeJS.ProcessEnv = process.env): string {
  return execFileSync('buildah', words, { env, encoding: 'utf8' });
}
