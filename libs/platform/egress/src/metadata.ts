import ipaddr from 'ipaddr.js';

/*
 * Services of clouds that give the machine's own credentials or configuration to every program on it. They are refused
 * whatever a pattern covers, unless the operator names exactly that address or name.
 */

/** Outside of the link-local ranges 169.254.0.0/16 and fe80::/10, which are refused as a whole. */
const METADATA_ADDRESSES = [
  // Azure: wire server, which also is its DNS and its health probe.
  '168.63.129.16',
  // Alibaba Cloud.
  '100.100.100.200',
  // Volcano Engine.
  '100.96.0.96',
  // UCloud.
  '100.80.80.80',
  // Oracle Cloud, the older address.
  '192.0.0.192',
  // Equinix Metal.
  '192.80.8.124',
  // Google Cloud.
  'fd20:ce::254',
  // Oracle Cloud.
  'fd00:c1::a9fe:a9fe',
  // Scaleway.
  'fd00:42::42',
  // Linode.
  'fd00:a9fe:a9fe::1',
];

/** AWS: instance metadata, credentials of EKS pods, DNS and time over IPv6. */
const METADATA_NETWORKS = ['fd00:ec2::/32'];

/** The best known addresses of the link-local range, for the search in IPv6 addresses. */
const LINK_LOCAL_METADATA = [
  // AWS, Azure, Google Cloud, Oracle Cloud, DigitalOcean, Hetzner, IBM, Huawei, OpenStack, Vultr, OVH, Exoscale and more.
  '169.254.169.254',
  // AWS: credentials of ECS tasks and of EKS pods, DNS, time.
  '169.254.170.2',
  '169.254.170.23',
  '169.254.169.253',
  '169.254.169.123',
  // Tencent Cloud.
  '169.254.0.23',
  // Scaleway.
  '169.254.42.42',
];

const ADDRESSES = new Set(METADATA_ADDRESSES.map((address) => ipaddr.parse(address).toString()));
const NETWORKS = METADATA_NETWORKS.map((network) => ipaddr.parseCIDR(network) as [ipaddr.IPv6, number]);
const EMBEDDED = new Set(
  [...METADATA_ADDRESSES.filter((address) => !address.includes(':')), ...LINK_LOCAL_METADATA].map((address) =>
    ipaddr.parse(address).toByteArray().join('.'),
  ),
);

/** The names of these services. A name below one of them counts too. */
const METADATA_NAMES = [
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.com',
  'metadata.azure.internal',
  'metadata.oraclecloud.com',
  'metadata.tencentyun.com',
  'api.metadata.cloud.ibm.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'rancher-metadata',
];

/**
 * Where an IPv6 address of a translation (NAT64 with any prefix, RFC 6052) has the bytes of its IPv4 address. The last
 * four are also those of 6to4 relays and ISATAP hosts.
 */
const EMBEDDED_AT = [
  [12, 13, 14, 15],
  [4, 5, 6, 7],
  [5, 6, 7, 9],
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  // 6to4: after 2002.
  [2, 3, 4, 5],
] as const;

/** @param address canonical; an IPv4-mapped one is already its IPv4 address */
export function isMetadataAddress(address: string): boolean {
  if (ADDRESSES.has(address)) return true;
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return false;
  if (NETWORKS.some((network) => parsed.match(network))) return true;
  const bytes = parsed.toByteArray();
  if (EMBEDDED_AT.some((at) => EMBEDDED.has(at.map((index) => bytes[index]).join('.')))) return true;
  // Teredo (2001::/32): the client's address, inverted.
  const isTeredo = bytes[0] === 0x20 && bytes[1] === 0x01 && bytes[2] === 0 && bytes[3] === 0;
  const inverted = bytes.slice(12).map((byte) => byte ^ 0xff);
  return isTeredo && EMBEDDED.has(inverted.join('.'));
}

/** @param host canonical: in lower case, without a trailing dot */
export function isMetadataName(host: string): boolean {
  return METADATA_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
}
