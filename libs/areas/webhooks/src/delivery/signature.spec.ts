import { expect, it } from '@jest/globals';
import { newSecret, signatureHeaders } from './signature.js';

it('the signature equals the example of the standard', () => {
  // From the tests of the reference implementation.
  const headers = signatureHeaders(
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1614265330,
    '{"test": 2432232314}',
  );
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it('during a rotation there is a signature of each secret, with a space between them', () => {
  const [current, previous] = [newSecret(), newSecret()];
  const signatureOf = (...secrets: string[]) => signatureHeaders(secrets, 'evt_1', 7, '{}')['webhook-signature'];
  expect(signatureOf(current, previous)).toBe(`${signatureOf(current)} ${signatureOf(previous)}`);
  expect(signatureOf(current)).not.toBe(signatureOf(previous));
});
