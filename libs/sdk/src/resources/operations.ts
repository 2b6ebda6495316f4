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
  /** Ends a pause, and passes the point at which a rollout waits for a person. */
  resume: (id: string, body: BodyOf<'resumeOperation'> = {}, options?: OptionsOf<'resumeOperation'>) =>
    api.call('resumeOperation', { path: { id }, body, options }),
  /** Holds the traffic of a rollout where it is, until `resume`. */
  pause: (id: string, body: BodyOf<'pauseOperation'> = {}, options?: OptionsOf<'pauseOperation'>) =>
    api.call('pauseOperation', { path: { id }, body, options }),
  /** Ends the running step of a rollout as passed by a person, or with `to: 'full'` all of its steps. */
  promote: (id: string, body: BodyOf<'promoteOperation'> = {}, options?: OptionsOf<'promoteOperation'>) =>
    api.call('promoteOperation', { path: { id }, body, options }),
  /** Resolves with the operation once it has succeeded. @throws OperationFailed if it ends otherwise */
  wait: (id: string, options?: WaitOptions) => waitForOperation(api, id, options),
  events: {
    list: (id: string, options?: OptionsOf<'listOperationEvents'>) =>
      api.list('listOperationEvents', { path: { id }, options }),
    /** Ends after the last event of an operation that has ended. */
    follow: (id: string, options?: FollowOptions) => followEvents(api, 'listOperationEvents', { id }, options),
  },
});
