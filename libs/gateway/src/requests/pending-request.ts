import type { GatewayError } from '../gateway.errors.js';
import type { Refusal } from './body-reader.js';

/**
 * A request that no engine has yet. It may be ended from outside while its body arrives, while it waits for its
 * deployment, and between these: then at its next step.
 */
export class PendingRequest {
  private error: GatewayError | undefined;
  private refuse: Refusal | undefined;

  /** The first error counts. */
  end(error: GatewayError): void {
    this.error ??= error;
    this.refuse?.(this.error);
  }

  /** @param refuse ends what the request waits for from now on; undefined if it waits for nothing */
  readonly waitsFor = (refuse: Refusal | undefined): void => {
    this.refuse = refuse;
    if (refuse && this.error) refuse(this.error);
  };

  /** @throws GatewayError if it was ended */
  assertOpen(): void {
    if (this.error) throw this.error;
  }
}
