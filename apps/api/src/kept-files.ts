import path from 'node:path';
import type { Config } from '@slipway/platform-config';
import type { KeptFiles } from '@slipway/platform-database';

/**
 * The files that a back-up keeps in addition to the database. Files about the processes on this host, or about the last
 * view of a gateway, belong to this host and moment, and are left out.
 */
export function keptFiles({ home, upload }: Pick<Config, 'home' | 'upload'>): KeptFiles {
  const store = upload.workspaceStore;
  return {
    'secret-key': path.join(home, 'secret-key'),
    'bootstrap-token': path.join(home, 'bootstrap-token'),
    ...(store.startsWith('file:') && { workspaces: store.slice('file:'.length) }),
  };
}
