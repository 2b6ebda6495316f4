import { withoutPath } from '../addresses.js';
import { CliError, EXIT } from '../exit-codes.js';
import { isOfThisMachine } from '../local-stack.js';
import type { Session } from '../session.js';

const HOW = 'Pass --gateway https://models.example.com, or set SLIPWAY_GATEWAY_URL.';

/**
 * The address of the gateway for the chosen installation: from the flag, the variable, the stack of this machine, or the
 * api. The token goes there, so an address that the api names is used only if it can belong to that api.
 */
export async function gatewayOf(session: Session, given?: string): Promise<string> {
  const named = given ?? session.env['SLIPWAY_GATEWAY_URL'];
  if (named) return addressOf(named);
  const { url, gatewayUrl } = session.chosen();
  if (gatewayUrl !== undefined) return gatewayUrl;
  const { gateway_url: told } = (await (await session.client()).system({ signal: session.signal })) as {
    gateway_url?: string;
  };
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

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname === '0.0.0.0' || /^127\./.test(hostname);
}
