import { describe, expect, it } from '@jest/globals';
import { addressReachOf } from './addresses.js';
import { addressPermitted, checkAddresses, checkUrl } from './rules.js';

const WIDE = ['https://*:*', 'http://*:*'];

/** One address for each service, in the order of the clouds' names. */
const SERVICES: [cloud: string, address: string][] = [
  ['Alibaba Cloud', '100.100.100.200'],
  ['AWS', '169.254.169.254'],
  ['AWS over IPv6', 'fd00:ec2::254'],
  ['AWS ECS', '169.254.170.2'],
  ['AWS EKS', '169.254.170.23'],
  ['AWS EKS over IPv6', 'fd00:ec2::23'],
  ['AWS DNS', '169.254.169.253'],
  ['AWS DNS over IPv6', 'fd00:ec2::253'],
  ['Azure, wire server', '168.63.129.16'],
  ['Equinix Metal', '192.80.8.124'],
  ['Google Cloud over IPv6', 'fd20:ce::254'],
  ['Linode over IPv6', 'fd00:a9fe:a9fe::1'],
  ['OpenStack over IPv6', 'fe80::a9fe:a9fe'],
  ['Oracle Cloud', '192.0.0.192'],
  ['Oracle Cloud over IPv6', 'fd00:c1::a9fe:a9fe'],
  ['Scaleway', '169.254.42.42'],
  ['Scaleway over IPv6', 'fd00:42::42'],
  ['Tencent Cloud', '169.254.0.23'],
  ['UCloud', '100.80.80.80'],
  ['Volcano Engine', '100.96.0.96'],
];

const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);

describe.each(SERVICES)('the metadata service of %s', (_cloud, address) => {
  it('is refused under any wide pattern, and as the address of any named host', () => {
    expect(addressReachOf(address)).toBe('forbidden');
    expect(checkUrl(WIDE, `http://${bracketed(address)}/latest`)).toMatchObject({ code: 'address_not_allowed' });
    for (const isLiteral of [true, false])
      expect(addressPermitted('gpu.corp.example', { isLiteral, isOwnPort: false }, address)).toBe(false);
  });

  it('is reached if the operator names exactly its address', () => {
    const named = [`http://${bracketed(address)}`];
    expect(checkUrl(named, `http://${bracketed(address)}/latest`)).toMatchObject({ ok: true, isLiteral: true });
    expect(addressPermitted(bracketed(address), { isLiteral: true, isOwnPort: false }, address)).toBe(true);
  });
});

/** The bytes of an IPv4 address, as two groups of an IPv6 address. */
function groupsOf(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

describe.each(['169.254.169.254', '168.63.129.16', '100.100.100.200', '169.254.170.2'])(
  '%s in another form',
  (address) => {
    const groups = groupsOf(address);
    const inverted = groupsOf(
      address
        .split('.')
        .map((part) => 255 - Number(part))
        .join('.'),
    );
    const [high = '', low = ''] = groups.split(':');
    const lowBytes = [low.padStart(4, '0').slice(0, 2), low.padStart(4, '0').slice(2)];

    it.each([
      ['IPv4-mapped', `::ffff:${address}`],
      ['IPv4-mapped in hexadecimal', `::ffff:${groups}`],
      ['IPv4-compatible', `::${groups}`],
      ['translated (SIIT)', `::ffff:0:${groups}`],
      ['NAT64', `64:ff9b::${groups}`],
      ['local NAT64', `64:ff9b:1::${groups}`],
      ['NAT64 with a prefix of an operator', `2a00:1450:4001:830::${groups}`],
      ['NAT64 with a prefix of 32 bits', `2a00:1450:${groups}::`],
      ['NAT64 with a prefix of 48 bits', `2a00:1450:4001:${high}:${lowBytes[0]}:${lowBytes[1]}00::`],
      ['6to4', `2002:${groups}::1`],
      ['Teredo', `2001:0:4136:e378:8000:63bf:${inverted}`],
      ['ISATAP', `2a00:1450:4001:830:0:5efe:${groups}`],
    ])('is refused: %s', (_form, text) => {
      expect([text, addressReachOf(text)]).toEqual([text, 'forbidden']);
      expect(addressPermitted('gpu.corp.example', { isLiteral: true, isOwnPort: false }, text)).toBe(false);
    });
  },
);

it.each(['2606:4700::1111', '2a00:1450:4001:830::200e', '100.64.0.1', '168.63.129.17', 'fd00:ec3::1', 'fd12::1'])(
  '%s is no metadata service',
  (address) => expect(addressReachOf(address)).not.toBe('forbidden'),
);

describe('a name of a metadata service', () => {
  it.each([
    'metadata.google.internal',
    'metadata.goog',
    'metadata',
    'instance-data.ec2.internal',
    'instance-data',
    'metadata.tencentyun.com',
    'api.metadata.cloud.ibm.com',
    'metadata.platformequinix.com',
    'v1.metadata.google.internal',
  ])('%s is refused, unless the operator names it', (name) => {
    const wide = [...WIDE, 'http://*.google.internal', 'http://*.ec2.internal'];
    expect(checkUrl(wide, `http://${name}/`)).toMatchObject({ ok: false, code: 'address_not_allowed' });
    expect(checkUrl([`http://${name}`], `http://${name}/`)).toMatchObject({ ok: true });
    const named = { isLiteral: true, isOwnPort: false };
    expect(addressPermitted(name, named, '169.254.169.254')).toBe(true);
    expect(addressPermitted(name, named, '0.0.0.0')).toBe(false);
  });

  it.each(['metadata.example.com', 'google.internal', 'mymetadata.google.internals'])('%s is an ordinary one', (name) =>
    expect(checkUrl(WIDE, `http://${name}/`)).toMatchObject({ ok: true }),
  );
});

describe('the addresses of a name at its creation', () => {
  const at =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address }));
  const check = (allow: string[], resolve: () => Promise<{ address: string }[]>) =>
    checkAddresses(checkUrl(allow, 'https://hooks.example.com/a'), resolve);

  it.each([['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['10.0.0.1'], ['169.254.169.254'], ['8.8.8.8', '127.0.0.1']])(
    '%s is refused under a wide pattern',
    async (...addresses) =>
      expect(await check(WIDE, at(...addresses))).toMatchObject({ ok: false, code: 'address_not_allowed' }),
  );

  it('may be internal if the operator names the host, but no metadata service', async () => {
    const named = ['https://hooks.example.com'];
    expect(await check(named, at('127.0.0.1'))).toMatchObject({ ok: true });
    expect(await check(named, at('168.63.129.16'))).toMatchObject({ ok: false });
  });

  it('may be unknown: a failed look-up refuses nothing', async () => {
    expect(await check(WIDE, () => Promise.reject(new Error('ENOTFOUND')))).toMatchObject({ ok: true });
    expect(await check(WIDE, at('8.8.8.8'))).toMatchObject({ ok: true });
  });

  it('are not looked up for a URL that is refused anyway', async () => {
    let asked = 0;
    const resolve = async () => ((asked += 1), []);
    expect(await check(['https://other.example'], resolve)).toMatchObject({ code: 'url_not_allowed' });
    expect(asked).toBe(0);
  });
});
