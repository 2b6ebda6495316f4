import { isSlipwayError, SlipwayError, type ErrorCode } from '@slipway/sdk';

/** Returns the error with which the api refuses a call. */
export async function refusalOf(call: PromiseLike<unknown>): Promise<SlipwayError> {
  const answer = await Promise.resolve(call).catch((error: unknown) => error);
  if (answer instanceof SlipwayError && answer.body) return answer;
  throw new Error('the api has not refused it', { cause: answer });
}

export async function codeOf(call: PromiseLike<unknown>): Promise<string> {
  const { status, code } = await refusalOf(call);
  return `${status} ${code}`;
}

/** Returns whether the api refuses a call with this code, or answers it. */
export async function isRefused(call: PromiseLike<unknown>, code: ErrorCode): Promise<boolean> {
  try {
    await call;
    return false;
  } catch (error) {
    if (isSlipwayError(error, code)) return true;
    throw error;
  }
}
