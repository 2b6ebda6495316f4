import type { CallOptions } from '@slipway/sdk';
import { CliError, EXIT } from '../exit-codes.js';
import { isOfThisMachine } from '../local-stack.js';
import type { Session } from '../session.js';
import { isLoopback, withoutPath } from './addresses.js';

const HOW = 'Pass --gateway https://models.example.com, or set SLIPWAY_GATEWAY_URL.';

/** How long the api may take to name its gateway to a check. */
const ASK_MS = 3_000;

/**
 * The address of the gateway for the chosen installation: from the flag, the variable, the stack of this machine, or the
 * api. The token goes there, so an address that the api names is used only if it can belong to that api.
 */
export async function gatewayOf(session: Session, given?: string): Promise<string> {
  const named = given ?? session.env['SLIPWAY_GATEWAY_URL'];
  if (named) return addressOf(named);
  const { url, gatewayUrl } = session.chosen();
  if (gatewayUrl !== undefined) return gatewayUrl;
  const told = await addressOfApi(session, { signal: session.signal });
  if (told === undefined || !URL.canParse(told))
    throw new CliError('The api does not name its gateway.', EXIT.failed, HOW);
  const address = addressOf(told);
  // Such an address is of the api's own machine. On this one, another program may listen there.
  if (isLoopback(address) && !isOfThisMachine(new URL(url).origin.replace(/^https:/, 'http:')))
    throw new CliError(
      `The api names ${address} as its gateway, which is an address of its own machine.`,
      EXIT.failed,
      `${HOW} The operator names it for everybody with SLIPWAY_GATEWAY_PUBLIC_URL.`,
    );
  return address;
}

/**
 * The same address for a check, which also accepts one that is no URL or of another machine, because it gets no token.
 * @returns undefined if nothing names a gateway
 */
export async function uncheckedGatewayOf(session: Session, ofStack?: string): Promise<string | undefined> {
  const url = session.env['SLIPWAY_GATEWAY_URL'] || ofStack || (await addressInTime(session));
  return url && withoutPath(url, '/v1');
}

async function addressInTime(session: Session): Promise<string | undefined> {
  const { withinTime } = await import('@slipway/sdk');
  try {
    return await withinTime(ASK_MS, session.signal, (signal) => addressOfApi(session, { signal, maxRetries: 0 }));
  } catch {
    // Other checks say why the api does not answer.
    session.signal.throwIfAborted();
    return undefined;
  }
}

/** The address that the api names for clients of models. Another server than Slipway may have answered. */
async function addressOfApi(session: Session, options: CallOptions): Promise<string | undefined> {
  const { gateway_url: url }: { gateway_url?: string } = await (await session.client()).system(options);
  return url;
}

/** Without `/v1` and slashes at its end: clients of OpenAI take the address with it. */
function addressOf(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new CliError(
      `${url} is not a valid URL of a gateway.`,
      EXIT.failed,
      'It must start with http:// or https://.',
    );
  const { origin, pathname } = new URL(url);
  return origin + withoutPath(pathname, '/v1');
}
