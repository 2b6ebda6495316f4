import { expect, it } from '@jest/globals';
import { contentDigestOf, DigestCheck, parseContentDigest } from './content-digest.js';

// RFC 9530, appendix D: the digests of {"hello": "world"} and a newline.
const CONTENT = Buffer.from('{"hello": "world"}\n');
const SHA_256 = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:';
const SHA_512 = 'sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:';

function verify(header: string | undefined, content = CONTENT): void {
  const check = new DigestCheck(parseContentDigest(header));
  for (const byte of content) check.update(Buffer.from([byte]));
  check.verify();
}

it('a digest check verifies the examples of RFC 9530', () => {
  verify(SHA_256);
  verify(SHA_512);
  verify(`${SHA_256}, ${SHA_512}`);
  expect(() => verify(SHA_256, Buffer.from('other'))).toThrow(
    expect.objectContaining({ code: 'digest_mismatch', status: 422 }),
  );
  expect(() => verify(`${SHA_512},${SHA_256}`, Buffer.from('other'))).toThrow(
    expect.objectContaining({ code: 'digest_mismatch' }),
  );
});

it('a digest check ignores unknown algorithms and an absent header', () => {
  verify(undefined);
  verify('');
  verify('md5=:AAAA:, unixsum=:AA==:');
});

it.each(['sha-256', 'sha-256=abc', 'sha-256=::', 'sha-256=:AAAA:', `${SHA_256};`, 'SHA-256=:AAAA:', `${SHA_256},`])(
  'the header %j is refused',
  (header) => {
    expect(() => parseContentDigest(header)).toThrow(
      expect.objectContaining({ code: 'invalid_parameter', status: 400 }),
    );
  },
);

it('a written digest header can be read back', () => {
  const hex = '44aff4ab2d7c32505256 75a08f0cfa9591168cffe51791c5f5bbc417c15a6c38'.replace(' ', '');
  expect(contentDigestOf(hex)).toBe(SHA_256);
});
