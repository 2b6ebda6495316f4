import { describe, expect, it } from '@jest/globals';
import { referenceAction } from './reference-action.js';

const body = { provider: 'custom' as const, base_url: 'http://127.0.0.1:9000', external_id: 'box-1' };

describe('the copied lines of a reference', () => {
  it('never contain the credential', () => {
    const copied = referenceAction({ ...body, credential: 'very-secret' });
    expect(JSON.stringify(copied)).not.toContain('very-secret');
    expect(copied.cli).toBe(
      'slipway references create box-1 --provider custom --base-url http://127.0.0.1:9000 --credential-file -',
    );
  });

  it('need no credential if there is none', () => {
    expect(referenceAction(body).curl.body).toEqual(body);
    expect(referenceAction(body).cli).not.toContain('credential');
  });
});
