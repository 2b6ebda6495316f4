import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import path from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { clientAddress, proxyList, type ProxyList } from '@slipway/platform-bounds';
import { parse } from 'yaml';

/* The Compose file and its proxy: if the processes do not trust it, all clients count as one. */

const docker = path.resolve(import.meta.dirname, '../../../../../docker');

interface ComposeFile {
  services: Record<string, { environment?: Record<string, string | null>; networks?: unknown }>;
  networks: { front: { ipam: { config: { subnet: string; gateway: string; ip_range: string }[] } } };
}

let compose: ComposeFile;
let edge: string;
let trusted: ProxyList;
beforeAll(() => {
  compose = parse(readFileSync(path.join(docker, 'compose.yaml'), 'utf8'), { merge: true }) as ComposeFile;
  edge = (compose.services['edge']?.networks as { front: { ipv4_address: string } }).front.ipv4_address;
  trusted = proxyList(defaultOf('api'));
});

function defaultOf(service: string): string {
  const value = compose.services[service]?.environment?.['SLIPWAY_TRUSTED_PROXIES'] ?? '';
  return /^\$\{SLIPWAY_TRUSTED_PROXIES:-(.*)\}$/.exec(value)?.[1] ?? value;
}

function networkOf(text: string): BlockList {
  const [address = '', bits] = text.split('/');
  const list = new BlockList();
  list.addSubnet(address, Number(bits), 'ipv4');
  return list;
}

it('the processes behind the proxy trust its address, and no other container', () => {
  expect(defaultOf('gateway')).toBe(defaultOf('api'));
  const [config] = compose.networks.front.ipam.config;
  expect(networkOf(config!.subnet).check(edge, 'ipv4')).toBe(true);
  // Containers get their addresses from this range, so none has a trusted one.
  const others = networkOf(config!.ip_range);
  for (const address of [edge, config!.gateway]) {
    expect(others.check(address, 'ipv4')).toBe(false);
    expect(clientAddress(address, '203.0.113.9', trusted)).toBe('203.0.113.9');
  }
  expect(clientAddress('172.31.70.130', '203.0.113.9', trusted)).toBe('172.31.70.130');
});

it('a client is seen through the proxy, and through another one on the host', () => {
  const { gateway } = compose.networks.front.ipam.config[0]!;
  expect(clientAddress(edge, '192.0.2.1, 203.0.113.9', trusted)).toBe('203.0.113.9');
  expect(clientAddress(edge, `192.0.2.1, 203.0.113.9, ${gateway}`, trusted)).toBe('203.0.113.9');
  // HAProxy appends the address of its client.
  expect(readFileSync(path.join(docker, 'haproxy.cfg'), 'utf8')).toMatch(/^ {2}option forwardfor$/m);
});
