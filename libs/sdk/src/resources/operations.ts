import { followEvents, type FollowOptions } from '../client/followed-events.js';
import { waitForOperation, type WaitOptions } from '../client/operation-wait.js';
import type { Transport } from '../client/transport.js';
import type { BodyOf, OptionsOf } from '../client/types.js';

export const operationsOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listOperations'>) => api.list('listOperations', { options }),
  get: (id: string, options?: OptionsOf<'getOperation'>) => api.call('getOperation', { path: { id }, options }),
  cancel: (id: string, body: BodyOf<'cancelOperation'> = {}, options?: OptionsOf<'cancelOperation'>) =>
    api.call('cancelOperation', { path: { id }, body, options }),
  retry: (id: string, options?: OptionsOf<'retryOperation'>) => api.call('retryOperation', { path: { id }, options }),
  resume: (id: string, options?: OptionsOf<'resumeOperation'>) =>
    api.call('resumeOperation', { path: { id }, options }),
  /** Resolves with the operation once it has succeeded. @throws OperationFailed if it ends otherwise */
  wait: (id: string, options?: WaitOptions) => waitForOperation(api, id, options),
  events: {
    list: (id: string, options?: OptionsOf<'listOperationEvents'>) =>
      api.list('listOperationEvents', { path: { id }, options }),
    /** Ends after the last event of an operation that has ended. */
    follow: (id: string, options?: FollowOptions) => followEvents(api, 'listOperationEvents', { id }, options),
  },
});
