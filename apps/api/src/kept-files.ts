import path from 'node:path';
import type { Config } from '@slipway/platform-config';
import type { KeptFiles } from '@slipway/platform-database';

/** What a back-up keeps beside the database. What says what runs on this host, or what gateways saw last, belongs to this host and this moment. */
export function keptFiles({ home, upload }: Pick<Config, 'home' | 'upload'>): KeptFiles {
  const store = upload.workspaceStore;
  return {
    'secret-key': path.join(home, 'secret-key'),
    'bootstrap-token': path.join(home, 'bootstrap-token'),
    ...(store.startsWith('file:') && { workspaces: store.slice('file:'.length) }),
  };
}
