import type { Transport } from '../client/transport.js';
import type { BodyOf, OptionsOf } from '../client/types.js';

export const autopilotOf = (api: Transport) => ({
  plans: {
    list: (options?: OptionsOf<'listAutopilotPlans'>) => api.list('listAutopilotPlans', { options }),
    get: (id: string, options?: OptionsOf<'getAutopilotPlan'>) =>
      api.call('getAutopilotPlan', { path: { id }, options }),
    create: (body: BodyOf<'createAutopilotPlan'>, options?: OptionsOf<'createAutopilotPlan'>) =>
      api.call('createAutopilotPlan', { body, options }),
    approve: (id: string, body: BodyOf<'approveAutopilotPlan'>, options?: OptionsOf<'approveAutopilotPlan'>) =>
      api.call('approveAutopilotPlan', { path: { id }, body, options }),
    reject: (id: string, body: BodyOf<'rejectAutopilotPlan'> = {}, options?: OptionsOf<'rejectAutopilotPlan'>) =>
      api.call('rejectAutopilotPlan', { path: { id }, body, options }),
  },
});
