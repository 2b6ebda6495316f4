import { expect, it } from '@jest/globals';
import {
  ANY_MEDIA_URL,
  DATA_URLS_ONLY,
  isMediaAllowed,
  mediaHostOf,
  mediaSourceOf,
  type MediaUrls,
} from './media-urls.js';

const hosts = (...names: string[]): MediaUrls => ({ allow: 'hosts', hosts: names });
const HOSTS = hosts('images.example.com', '10.0.0.7:8080', '*.cdn.example', '[2001:db8::1]');

it.each([
  'data:image/png;base64,iVBORw0KGgo=',
  'DATA:,x',
  'https://images.example.com/a.png',
  'HTTP://Images.Example.COM/a.png?b=c#d',
  'https://images.example.com:443/',
  'http://images.example.com:80/',
  'https://images.example.com',
  'http://10.0.0.7:8080/a',
  'https://a.cdn.example/x',
  'https://a.b.cdn.example/x',
  'http://[2001:db8::1]/a',
])('is allowed to name %s', (url) => expect(isMediaAllowed(HOSTS, mediaSourceOf(url))).toBe(true));

it.each([
  'https://evil.example/a.png',
  'https://images.example.com.evil.example/',
  'https://images.example.com:8443/',
  'http://images.example.com:443/',
  'http://10.0.0.7/a',
  'https://cdn.example/x',
  'https://evilcdn.example/x',
  // Readers of URLs disagree about each of these.
  'https://images.example.com@evil.example/',
  'https://user:secret@images.example.com/',
  'https://images.example.com\\@evil.example/',
  'https:\\\\images.example.com/',
  'https:/images.example.com/',
  'https:images.example.com',
  'https:///images.example.com/',
  '//images.example.com/a',
  '/etc/passwd',
  'images.example.com/a',
  ' https://images.example.com/',
  '\u0000https://images.example.com/',
  'ht\ntps://images.example.com/',
  'https://images.exam\tple.com/',
  'https://images.example.com/a b',
  'https://images.example.com#@evil.example/',
  'https://images.example.com?@evil.example/',
  'https://images.example.com./',
  'https://images.example.com:99999/',
  'https://images%2eexample.com/',
  'https://ｉmages.example.com/',
  'https://images。example.com/',
  'http://0x0a.0.0.7:8080/',
  'http://167772167:8080/',
  'http://[::ffff:10.0.0.7]:8080/',
  'http://[2001:0db8::1]/a',
  'file:///etc/passwd',
  'FILE:/etc/passwd',
  'ftp://images.example.com/a',
  's3://images.example.com/a',
  'blob:https://images.example.com/a',
  ' data:,x',
  'da\nta:,x',
  '',
])('is not allowed to name %j', (url) => expect(isMediaAllowed(HOSTS, mediaSourceOf(url))).toBe(false));

it('allows everything, or data URLs only', () => {
  for (const url of ['https://a.example/', 'file:///etc/passwd', 'x', 'data:,x']) {
    expect(isMediaAllowed(ANY_MEDIA_URL, mediaSourceOf(url))).toBe(true);
    expect(isMediaAllowed(DATA_URLS_ONLY, mediaSourceOf(url))).toBe(url.startsWith('data:'));
  }
});

it('writes hosts as they are compared, and refuses what is none', () => {
  const entries = ['Images.Example.com', 'a.example:443', 'a.example:8443', '*.CDN.example', '[2001:DB8::1]:80'];
  expect(entries.map(mediaHostOf)).toEqual([
    'images.example.com',
    'a.example',
    'a.example:8443',
    '*.cdn.example',
    '[2001:db8::1]:80',
  ]);
  const wrong = [
    ...[
      '',
      '*',
      '*.',
      '*.com',
      '*.0.0.7',
      '*.[::1]',
      'a.example/',
      'a.example/b',
      'https://a.example',
      'user@a.example',
    ],
    ...[
      'a example',
      'a.example.',
      'bücher.example',
      '0x7f.1',
      '2130706433',
      'a.example:',
      'a.example:99999',
      '*.*.a.example',
    ],
  ];
  expect(wrong.filter((one) => mediaHostOf(one) !== undefined)).toEqual([]);
});
