import { execFileSync } from 'node:child_process';

export interface Membership {
  /** The name of a network namespace. */
  network: string;
  address: string;
}

/** A bridge on this machine, and network namespaces that are connected to it. */
export class Network {
  private readonly members = new Set<string>();
  private next: number;

  constructor(
    /** At most nine letters: names of links are short. */
    private readonly name: string,
    /** The first three numbers of its addresses. */
    private readonly prefix: string,
    /** The last number of the first address that a member gets. */
    first = 10,
  ) {
    this.next = first;
    this.removeLeftovers();
    ip('link', 'add', name, 'type', 'bridge');
    ip('address', 'add', `${this.gateway}/24`, 'dev', name);
    ip('link', 'set', name, 'up');
  }

  /** The address of this machine in the network. */
  get gateway(): string {
    return `${this.prefix}.1`;
  }

  /** Creates a namespace with the next address, or with a fixed one. */
  join(address = `${this.prefix}.${this.next++}`): Membership {
    const network = `${this.name}-${address.split('.').at(-1)}`;
    const outside = this.linkOf(network);
    ip('netns', 'add', network);
    this.members.add(network);
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', network);
    ip('link', 'set', outside, 'master', this.name, 'up');
    ip('-n', network, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', network, 'link', 'set', 'eth0', 'up');
    ip('-n', network, 'link', 'set', 'lo', 'up');
    return { network, address };
  }

  leave({ network }: { network: string }): void {
    this.members.delete(network);
    // Connections of a killed process keep a namespace for minutes, and its link with it.
    ip('link', 'delete', this.linkOf(network));
    ip('netns', 'delete', network);
  }

  remove(): void {
    for (const network of this.members) this.leave({ network });
    ip('link', 'delete', this.name);
  }

  private linkOf(network: string): string {
    return `${this.name}o${network.split('-').at(-1)}`;
  }

  /** A killed run leaves its links and namespaces. */
  private removeLeftovers(): void {
    for (const link of namesIn('link').filter((name) => name === this.name || name.startsWith(`${this.name}o`)))
      ip('link', 'delete', link);
    for (const network of namesIn('netns').filter((name) => name.startsWith(`${this.name}-`)))
      ip('netns', 'delete', network);
  }
}

function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8' });
}

function namesIn(kind: 'link' | 'netns'): string[] {
  const rows = JSON.parse(ip('-json', kind, 'list') || '[]') as { name?: string; ifname?: string }[];
  return rows.map(({ name, ifname }) => ifname ?? name ?? '');
}
