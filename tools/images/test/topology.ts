import { chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { builder } from './builder.js';
import { frontOf, servicesOf, type Condition, type Mount, type Service } from './compose.js';
import { Container } from './container.js';
import { NameServer, RESOLVER } from './name-server.js';
import { Network, type Membership } from './network.js';
import type { Project } from './project.js';
import { standInOf, type StandIn } from './stand-in-images.js';

const HEALTH_MS = 300_000;
/** Docker restarts a container that has ended this soon, the first time. */
const RESTART_MS = 100;
const METRICS_PORT = 9090;

/** One container of a service, with its root and its address, which stay if it is restarted. */
interface Member extends Membership {
  name: string;
  service: Service;
  serviceName: string;
  image: StandIn;
  removeImage: () => void;
  container: Container;
  isStopping: boolean;
}

/**
 * Starts the services of a Compose file as `docker compose up` does: with their commands, variables, files, volumes,
 * users and health checks, in the order of `depends_on`. They are in one network, although the file has two.
 */
export class Topology {
  private readonly services: Record<string, Service>;
  private readonly names = new NameServer();
  private readonly network: Network;
  private readonly members = new Map<string, Member>();
  private readonly counts = new Map<string, number>();
  private readonly starts = new Map<string, Promise<void>>();

  constructor(private readonly project: Project) {
    const file = project.at('compose.yaml');
    this.services = servicesOf(file, project.variables);
    const { gateway, first } = frontOf(file);
    const prefix = gateway.slice(0, gateway.lastIndexOf('.'));
    this.network = new Network('slwtop', prefix, Number(first.split('.').at(-1)));
    writeFileSync(project.at('resolv.conf'), `nameserver ${RESOLVER}\noptions ndots:0\n`);
  }

  /** The address at which containers reach this machine. */
  get host(): string {
    return this.network.gateway;
  }

  /** Resolves when all containers are healthy. */
  async up(): Promise<void> {
    const names = Object.keys(this.services).filter((name) => !this.services[name]!.isOptional);
    await Promise.all(names.map((name) => this.upService(name)));
    const lasting = [...this.members.values()].filter(({ service }) => service.isRestarted);
    await Promise.all(lasting.map((member) => this.isServing(member)));
  }

  /** The names of the running containers, such as `api-1`. */
  containersOf(...services: string[]): string[] {
    return [...this.members.values()]
      .filter(
        ({ serviceName, service, isStopping }) => services.includes(serviceName) && service.isRestarted && !isStopping,
      )
      .map(({ name }) => name);
  }

  containerOf(name: string): Container {
    return this.member(name).container;
  }

  addressOf(name: string): string {
    return this.member(name).address;
  }

  /** The variables of the image and of compose.yaml, as lines. */
  environmentOf(name: string): string[] {
    const { image, service } = this.member(name);
    const others = image.config.Env.filter(
      (line) => service.environment[line.slice(0, line.indexOf('='))] === undefined,
    );
    return [...others, ...Object.entries(service.environment).map(([key, value]) => `${key}=${value}`)];
  }

  /** Replaces a container as scaling does: another one becomes healthy, then the old one stops. @returns its exit status */
  async replace(name: string): Promise<number | null> {
    const old = this.member(name);
    await this.isServing(await this.add(old.serviceName));
    return this.stop(old);
  }

  /** Ends the process at once, and resolves when its container has been restarted and is healthy. */
  async kill(name: string): Promise<void> {
    const member = this.member(name);
    const killed = member.container;
    await killed.stop('SIGKILL');
    while (member.container === killed) await delay(20);
    await this.isServing(member);
  }

  /** Runs a service once, as `docker compose run --rm` does. */
  async run(service: string): Promise<{ code: number | null; output: string }> {
    const member = await this.add(service);
    const code = await member.container.ended;
    const { output } = member.container;
    await this.stop(member);
    return { code, output };
  }

  /** The sum of the samples of a metric in one container. */
  async metric(name: string, metric: string, token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://${this.addressOf(name)}:${METRICS_PORT}/metrics`, { headers });
    if (!answer.ok) throw new Error(`the metrics of ${name} answer ${answer.status}`);
    const lines = (await answer.text()).split('\n').filter((line) => new RegExp(`^${metric}[ {]`).test(line));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  async down(): Promise<void> {
    for (const member of this.members.values()) member.isStopping = true;
    await Promise.allSettled(this.starts.values());
    for (const member of [...this.members.values()].reverse()) await this.stop(member, 'SIGKILL');
    this.names.close();
    this.network.remove();
  }

  private member(name: string): Member {
    const member = this.members.get(name);
    if (!member) throw new Error(`no container ${name}; there are ${[...this.members.keys()].join(', ')}`);
    return member;
  }

  private upService(name: string): Promise<void> {
    const start = this.starts.get(name) ?? this.startService(name);
    this.starts.set(name, start);
    return start;
  }

  private async startService(name: string): Promise<void> {
    const { dependsOn, replicas } = this.services[name]!;
    await Promise.all(Object.entries(dependsOn).map(([other, condition]) => this.meets(other, condition)));
    for (let count = 0; count < replicas; count += 1) await this.add(name);
  }

  private async meets(name: string, condition: Condition): Promise<void> {
    await this.upService(name);
    const members = [...this.members.values()].filter(({ serviceName }) => serviceName === name);
    if (condition === 'service_healthy') await Promise.all(members.map((member) => this.isServing(member)));
    if (condition !== 'service_completed_successfully') return;
    for (const { container } of members) {
      const code = await container.ended;
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${container.output}`);
    }
  }

  private async add(serviceName: string): Promise<Member> {
    const service = this.services[serviceName];
    if (!service) throw new Error(`compose.yaml has no service ${serviceName}`);
    const count = (this.counts.get(serviceName) ?? 0) + 1;
    this.counts.set(serviceName, count);
    const name = `${serviceName}-${count}`;
    const membership = this.network.join(service.address);
    await this.names.serveIn(membership.network);
    const member = { name, service, serviceName, ...membership, ...imageOf(service), isStopping: false } as Member;
    this.launch(member);
    this.members.set(name, member);
    return member;
  }

  private launch(member: Member): void {
    const { service, image, network, name } = member;
    const { environment, tmpfs, command, user, healthcheck } = service;
    const mounts = service.mounts.map((mount) => this.mounted(mount, member));
    const resolver = `${this.project.at('resolv.conf')}:/etc/resolv.conf:ro`;
    const volumes = [...mounts, ...image.programs, resolver];
    const options = { network, hostname: name, env: environment, tmpfs, volumes };
    member.container = Container.start(image, {
      ...options,
      ...(command && { command }),
      ...(user && { user }),
      ...(healthcheck && { healthcheck }),
    });
    this.names.add(member.serviceName, member.address);
    void this.follow(member, member.container);
  }

  private async follow(member: Member, container: Container): Promise<void> {
    await container.ended;
    this.names.remove(member.serviceName, member.address);
    if (member.service.isRestarted && !member.isStopping) await delay(RESTART_MS);
    if (member.service.isRestarted && !member.isStopping) this.launch(member);
  }

  private mounted({ source, target, isReadOnly }: Mount, { name, image }: Member): string {
    const isFile = source?.startsWith('./') ?? false;
    const from = isFile
      ? this.project.at(source!)
      : this.volume(source ?? `${name}-own`, path.join(image.root, target));
    return [from, target, ...(isReadOnly ? ['ro'] : [])].join(':');
  }

  /** A new volume gets the owner and the mode of the folder of the image in its place, as with Docker. */
  private volume(name: string, like: string): string {
    const folder = this.project.at(`volumes/${name}`);
    if (existsSync(folder)) return folder;
    const { uid, gid, mode } = statSync(like);
    mkdirSync(folder, { recursive: true });
    chownSync(folder, uid, gid);
    chmodSync(folder, mode & 0o7777);
    return folder;
  }

  private async isServing(member: Member): Promise<void> {
    const end = Date.now() + HEALTH_MS;
    await member.container.started();
    while (member.container.hasHealthcheck && !(await this.isHealthy(member))) {
      if (Date.now() > end) throw new Error(`${member.name} is not healthy: ${member.container.output}`);
      await delay(200);
    }
  }

  private async isHealthy({ container }: Member): Promise<boolean> {
    if (container.hasEnded) return false;
    // It may end, and be restarted, at any moment.
    return container.isHealthy().catch(() => false);
  }

  private async stop(member: Member, signal = member.image.stopSignal): Promise<number | null> {
    member.isStopping = true;
    const code = await member.container.stop(signal, member.service.stopSeconds);
    this.names.leave(member.network);
    this.network.leave(member);
    this.members.delete(member.name);
    member.removeImage();
    return code;
  }
}

function imageOf({ build, image = '' }: Service): { image: StandIn; removeImage: () => void } {
  if (!build) {
    const { image: standIn, remove } = standInOf(image);
    return { image: standIn, removeImage: remove };
  }
  const unpacked = builder.unpack(build.target);
  return {
    image: { ...unpacked, programs: [], stopSignal: 'SIGTERM' },
    removeImage: () => builder.remove(unpacked.container),
  };
}
