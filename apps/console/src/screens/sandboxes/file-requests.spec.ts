import { describe, expect, it } from '@jest/globals';
import { downloadCli, uploadCli, uploadCurl } from './file-requests.js';

describe('the lines for a file', () => {
  it('quote any file name', () => {
    expect(uploadCurl('http://api', 'sbx_1', 'in/$(id) & more.bin', false)).toBe(
      [
        `curl -T '$(id) & more.bin' 'http://api/api/v1/sandboxes/sbx_1/files?path=in%2F%24%28id%29+%26+more.bin&overwrite=false'`,
        `-H "authorization: Bearer $SLIPWAY_TOKEN"`,
        `-H 'content-type: application/octet-stream'`,
      ].join(' \\\n  '),
    );
    expect(downloadCli('sbx_1', "it's.txt")).toBe(`slipway files get sbx_1 'it'\\''s.txt' --to 'it'\\''s.txt'`);
  });

  it('replace a file only if that was chosen', () => {
    expect(uploadCli('sbx_1', 'a.txt', false)).toBe('slipway files put sbx_1 a.txt --from a.txt --no-overwrite');
    expect(uploadCli('sbx_1', 'a.txt', true)).not.toContain('overwrite');
  });
});
