import { asSlipwayError, CliError } from '../exit-codes.js';
import { reasonOf } from '../failure-lines.js';
import { START_COMMAND } from '../local-stack.js';
import { isLoopback } from '../servers/addresses.js';
import { textAtStart } from '../servers/response-text.js';
import { fault, ok, skipped, warning, type Check, type CheckResult, type Surroundings } from './check.js';

const SKEW_MS = 5_000;
/** A hosted identity's tokens are refused beyond this skew. */
const MUCH_SKEW_MS = 30_000;
const UNCLAIMED_MS = 30_000;
const MOST_TEXT = 4_096;
const MOST_TOLD = 3;

/** Whether the server at this address is a part of Slipway: no other program answers /healthz this way. */
export async function isSlipway(url: string, signal: AbortSignal, own: typeof fetch = fetch): Promise<boolean> {
  const answer = await own(`${url}/healthz`, { signal, redirect: 'error' }).catch(() => undefined);
  return answer?.ok === true && (await textAtStart(answer, MOST_TEXT)).includes('"status":"ok"');
}

const apiCheck: Check = {
  name: 'api',
  look: async ({ apiUrl, isLocal, fetch: own }, signal) => {
    let answer: Response;
    try {
      answer = await own(`${apiUrl}/readyz`, { signal, redirect: 'error' });
    } catch (error) {
      const said = `no response from ${apiUrl}: ${reasonOf(error)}`;
      return isLocal ? warning(said, START_COMMAND) : fault(said, 'slipway context list');
    }
    if (answer.ok && (await isSlipway(apiUrl, signal, own))) return ok(`${apiUrl} is ready`);
    const said = envelopeOf(await textAtStart(answer, MOST_TEXT));
    if (said) return fault(`${apiUrl} is not ready: ${said}`, isLocal ? START_COMMAND : `curl ${apiUrl}/readyz`);
    return fault(`the server at ${apiUrl} is not Slipway`, 'slipway login --url <url>');
  },
};

const gatewayCheck: Check = {
  name: 'gateway',
  look: async ({ gatewayUrl, isLocal, fetch: own }, signal) => {
    if (gatewayUrl === undefined)
      return skipped('the address of the gateway is not known: this check needs a running api and a login');
    let answer: Response;
    try {
      answer = await own(`${gatewayUrl}/readyz`, { signal, redirect: 'error' });
    } catch (error) {
      const said = `no response from ${gatewayUrl}: ${reasonOf(error)}`;
      const isOfOther = !isLocal && isLoopback(gatewayUrl);
      if (isOfOther)
        return warning(
          `the api names ${gatewayUrl} as its gateway, which is an address of its own machine`,
          'export SLIPWAY_GATEWAY_URL=https://models.example.com',
        );
      return isLocal ? fault(said, START_COMMAND) : fault(said, `curl ${gatewayUrl}/readyz`);
    }
    const text = await textAtStart(answer, MOST_TEXT);
    if (answer.ok && (await isSlipway(gatewayUrl, signal, own))) return ok(`${gatewayUrl} is ready`);
    const said = envelopeOf(text);
    if (said) return fault(`${gatewayUrl} is not ready: ${said}`, `curl ${gatewayUrl}/readyz`);
    return fault(`the server at ${gatewayUrl} is not a gateway of Slipway`, 'unset SLIPWAY_GATEWAY_URL');
  },
};

const clockCheck: Check = {
  name: 'clock',
  look: async ({ apiUrl, fetch: own }, signal) => {
    const before = Date.now();
    const answer = await own(`${apiUrl}/healthz`, { signal, redirect: 'error' }).catch(() => undefined);
    await answer?.body?.cancel();
    const at = Date.parse(answer?.headers.get('date') ?? '');
    if (Number.isNaN(at)) return skipped('the api does not respond, so the clocks cannot be compared');
    return clockFound(at, before, Date.now());
  },
};

/** A date in a header is truncated to the second. */
export function clockFound(at: number, before: number, after: number): CheckResult {
  const skewMs = Math.max(0, before - (at + 1_000), at - after);
  if (skewMs < SKEW_MS) return ok("it matches the server's clock");
  const said = `it is ${Math.round(skewMs / 1_000)} s ${at > after ? 'behind' : 'ahead of'} the server's clock`;
  const remedy = 'sudo timedatectl set-ntp true';
  return skewMs < MUCH_SKEW_MS ? warning(said, remedy) : fault(said, remedy);
}

const loginCheck: Check = {
  name: 'login',
  look: async (around, signal) => {
    try {
      const { tenant, actor, scopes } = await (await around.client()).whoAmI({ signal, maxRetries: 0 });
      return ok(`${actor.type} ${actor.id} of tenant ${tenant.name}, with ${scopes.join(', ')}`);
    } catch (error) {
      if (error instanceof CliError) return warning(error.message, 'slipway login');
      const refusal = asSlipwayError(error);
      if (refusal?.category === 'authentication') return fault(refusal.message, 'slipway login');
      if (refusal && ['connection_failed', 'unexpected_answer'].includes(refusal.code))
        return skipped('the api does not respond');
      throw error;
    }
  },
};

const targetsCheck: Check = {
  name: 'targets',
  look: (around, signal) =>
    asked(around, async (client) => {
      const { data, configuration } = await client.targets.list({ limit: 200, signal, maxRetries: 0 });
      const remedy = 'slipway targets list -o yaml';
      if (!configuration.current)
        return fault(
          `the operator's file is invalid, so its last valid version applies: ${some(configuration.problems)}`,
          remedy,
        );
      const troubles = data.flatMap(({ name, conditions, devices }) => [
        ...conditions.map(({ message }) => `${name}: ${message}`),
        ...devices.flatMap(({ index, problem }) => (problem ? [`${name}: device ${index}: ${problem}`] : [])),
      ]);
      if (troubles.length > 0) return fault(some(troubles), remedy);
      if (data.length === 0) return warning('this tenant may not use any target', remedy);
      return ok(data.map(({ name, kind }) => `${name} (${kind})`).join(', '));
    }),
};

const worker: Check = {
  name: 'worker',
  look: (around, signal) =>
    asked(around, async (client) => {
      const { data } = await client.operations.list({ status: 'pending', limit: 200, signal, maxRetries: 0 });
      const late = Date.now() - UNCLAIMED_MS;
      const waiting = data.filter(({ attempt, created_at }) => attempt === 0 && Date.parse(created_at) < late);
      if (waiting.length === 0) return ok('no operation is waiting for a worker');
      const said = `no worker picks up these operations: ${some(waiting.map(({ id }) => id))}`;
      return fault(said, around.isLocal ? START_COMMAND : 'node apps/worker/dist/main.js');
    }),
};

/** Calls the api for a user who is logged in. Other checks report a missing login or an api that does not answer. */
async function asked(
  around: Surroundings,
  ask: (client: Awaited<ReturnType<Surroundings['client']>>) => Promise<CheckResult>,
) {
  try {
    return await ask(await around.client());
  } catch (error) {
    const isRefused = ['connection_failed', 'unexpected_answer'].includes(asSlipwayError(error)?.code ?? '');
    const isUnknown = error instanceof CliError || asSlipwayError(error)?.category === 'authentication';
    if (isRefused || isUnknown) return skipped('this check needs a running api and a login');
    throw error;
  }
}

const some = (lines: readonly string[]): string =>
  lines.length > MOST_TOLD
    ? `${lines.slice(0, MOST_TOLD).join('; ')} and ${lines.length - MOST_TOLD} more`
    : lines.join('; ');

function envelopeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { message?: string } }).error?.message;
  } catch {
    return undefined;
  }
}

export const SERVER_CHECKS: readonly Check[] = [apiCheck, gatewayCheck, clockCheck, loginCheck, targetsCheck, worker];
