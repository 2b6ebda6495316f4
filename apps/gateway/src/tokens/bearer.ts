import { hash } from 'node:crypto';

export interface Bearer {
  /** Of the row in `api_tokens`. */
  tokenId: string;
  secretHash: Buffer;
}

/** As platform-auth writes tokens: `slw_<id>_<secret>`, where the row's id is `tok_<id>`. */
const TOKEN = /^[Bb]earer +slw_([A-Za-z0-9-]{1,64})_([\x21-\x7e]{32,512}) *$/;

/** Null for anything that cannot be an API token. */
export function parseBearer(authorization: string): Bearer | null {
  const parts = TOKEN.exec(authorization);
  if (!parts) return null;
  return { tokenId: `tok_${parts[1]}`, secretHash: hash('sha256', parts[2] as string, 'buffer') };
}
