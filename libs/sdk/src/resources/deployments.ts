import { SlipwayError } from '../client/errors.js';
import { messagesOf } from '../client/event-stream.js';
import { followEvents, type FollowOptions } from '../client/followed-events.js';
import type { Transport } from '../client/transport.js';
import type { BodyOf, CallOptions, OptionsOf } from '../client/types.js';

export const autopilotOf = (api: Transport) => ({
  /** Why the SLOs of a deployment are met or missed, and the last decision of the autopilot. */
  diagnosis: {
    get: (name: string, options?: OptionsOf<'getAutopilotDiagnosis'>) =>
      api.call('getAutopilotDiagnosis', { path: { name }, options }),
  },
  /** How close the predictions of executed plans were. */
  calibration: {
    get: (options?: OptionsOf<'getAutopilotCalibration'>) => api.call('getAutopilotCalibration', { options }),
  },
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

export const deploymentsOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listDeployments'>) => api.list('listDeployments', { options }),
  get: (name: string, options?: OptionsOf<'getDeployment'>) => api.call('getDeployment', { path: { name }, options }),
  create: (body: BodyOf<'createDeployment'>, options?: OptionsOf<'createDeployment'>) =>
    api.call('createDeployment', { body, options }),
  rehearseCreate: (body: BodyOf<'createDeployment'>, options?: OptionsOf<'createDeployment'>) =>
    api.rehearse('createDeployment', { body, options }),
  /** A merge patch: the named fields change, and null removes a field. */
  update: (name: string, body: BodyOf<'updateDeployment'>, options?: OptionsOf<'updateDeployment'>) =>
    api.call('updateDeployment', { path: { name }, body, options }),
  rehearseUpdate: (name: string, body: BodyOf<'updateDeployment'>, options?: OptionsOf<'updateDeployment'>) =>
    api.rehearse('updateDeployment', { path: { name }, body, options }),
  delete: (name: string, options?: OptionsOf<'deleteDeployment'>) =>
    api.call('deleteDeployment', { path: { name }, options }),
  /** Stops the instances that wait for requests in flight now. */
  endDrain: (name: string, options?: OptionsOf<'endDeploymentDrain'>) =>
    api.call('endDeploymentDrain', { path: { name }, options }),
  /** Restarts the instances of the revisions that serve, one after the other. */
  restart: (name: string, body: BodyOf<'restartDeployment'> = {}, options?: OptionsOf<'restartDeployment'>) =>
    api.call('restartDeployment', { path: { name }, body, options }),
  rehearseRestart: (name: string, body: BodyOf<'restartDeployment'> = {}, options?: OptionsOf<'restartDeployment'>) =>
    api.rehearse('restartDeployment', { path: { name }, body, options }),
  /** Results and times of requests, by revision and step. */
  metrics: (name: string, options?: OptionsOf<'getDeploymentMetrics'>) =>
    api.call('getDeploymentMetrics', { path: { name }, options }),
  rollouts: {
    create: (name: string, body: BodyOf<'createRollout'>, options?: OptionsOf<'createRollout'>) =>
      api.call('createRollout', { path: { name }, body, options }),
    rehearse: (name: string, body: BodyOf<'createRollout'>, options?: OptionsOf<'createRollout'>) =>
      api.rehearse('createRollout', { path: { name }, body, options }),
  },
  rollbacks: {
    create: (name: string, body: BodyOf<'createRollback'> = {}, options?: OptionsOf<'createRollback'>) =>
      api.call('createRollback', { path: { name }, body, options }),
    rehearse: (name: string, body: BodyOf<'createRollback'> = {}, options?: OptionsOf<'createRollback'>) =>
      api.rehearse('createRollback', { path: { name }, body, options }),
  },
  revisions: {
    list: (name: string, options?: OptionsOf<'listRevisions'>) =>
      api.list('listRevisions', { path: { name }, options }),
    get: (name: string, revision: string, options?: OptionsOf<'getRevision'>) =>
      api.call('getRevision', { path: { name, revision }, options }),
    diff: (name: string, a: string, b: string, options?: OptionsOf<'diffRevisions'>) =>
      api.call('diffRevisions', { path: { name, a, b }, options }),
  },
  route: {
    get: (name: string, options?: OptionsOf<'getRoute'>) => api.call('getRoute', { path: { name }, options }),
    set: (name: string, body: BodyOf<'setRoute'>, options?: OptionsOf<'setRoute'>) =>
      api.call('setRoute', { path: { name }, body, options }),
    rehearse: (name: string, body: BodyOf<'setRoute'>, options?: OptionsOf<'setRoute'>) =>
      api.rehearse('setRoute', { path: { name }, body, options }),
  },
  /** The policy of continual optimization. */
  policy: {
    get: (name: string, options?: OptionsOf<'getContinualOptimizationPolicy'>) =>
      api.call('getContinualOptimizationPolicy', { path: { name }, options }),
    /** The kept versions, newest first. */
    versions: (name: string, options?: OptionsOf<'listContinualOptimizationPolicyVersions'>) =>
      api.list('listContinualOptimizationPolicyVersions', { path: { name }, options }),
    version: (name: string, version: number | string, options?: OptionsOf<'getContinualOptimizationPolicyVersion'>) =>
      api.call('getContinualOptimizationPolicyVersion', { path: { name, version: String(version) }, options }),
    set: (
      name: string,
      body: BodyOf<'setContinualOptimizationPolicy'>,
      options?: OptionsOf<'setContinualOptimizationPolicy'>,
    ) => api.call('setContinualOptimizationPolicy', { path: { name }, body, options }),
    rehearse: (
      name: string,
      body: BodyOf<'setContinualOptimizationPolicy'>,
      options?: OptionsOf<'setContinualOptimizationPolicy'>,
    ) => api.rehearse('setContinualOptimizationPolicy', { path: { name }, body, options }),
  },
  instances: {
    list: (name: string, options?: OptionsOf<'listInstances'>) =>
      api.list('listInstances', { path: { name }, options }),
    /** Returns the answer itself, unread: `await (await logs(...)).text()`, or its `body` as a stream. */
    logs: (name: string, id: string, options: Omit<OptionsOf<'getInstanceLogs'>, 'follow'> = {}) =>
      api.bytes('getInstanceLogs', { path: { name, id }, options: accepting('text/plain', options) }),
    followLogs: (name: string, id: string, options?: Omit<OptionsOf<'getInstanceLogs'>, 'follow'>) =>
      followLogs(api, name, id, options),
  },
  events: {
    list: (name: string, options?: OptionsOf<'listDeploymentEvents'>) =>
      api.list('listDeploymentEvents', { path: { name }, options }),
    /** Continues until it is no longer read, or its signal fires. */
    follow: (name: string, options?: FollowOptions) => followEvents(api, 'listDeploymentEvents', { name }, options),
  },
});

/** A line of an instance's output. */
export interface LogLine {
  stream: 'stdout' | 'stderr' | (string & {});
  at: string;
  text: string;
}

/** Unlike events, lines have no ids: a connection that is cut is an error and is not resumed. */
async function* followLogs(
  api: Transport,
  name: string,
  id: string,
  options: OptionsOf<'getInstanceLogs'> = {},
): AsyncGenerator<LogLine, void, undefined> {
  const { signal } = options;
  const following = accepting('text/event-stream', { ...options, follow: true });
  const response = await api.raw('getInstanceLogs', { path: { name, id }, options: following });
  for await (const message of messagesOf(response, { signal })) {
    const data = JSON.parse(message.data) as { at: string; text: string; reason?: string };
    if (message.type !== 'end') {
      yield { stream: message.type, at: data.at, text: data.text };
      continue;
    }
    if (data.reason === 'complete') return;
    const code = data.reason ?? 'unexpected_answer';
    throw new SlipwayError(`The log stream ended early: ${code}`, { code, retryable: false });
  }
  throw new SlipwayError('The log stream was interrupted.', { code: 'connection_failed', retryable: true });
}

function accepting<Options extends CallOptions>(accept: string, options: Options): Options {
  return { ...options, headers: { ...options.headers, accept } };
}
