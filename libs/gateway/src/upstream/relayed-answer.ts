import type { Dispatcher } from 'undici';

/**
 * Stands between the connection to an instance and the handler of an answer, to which it is the controller of the
 * request. Subclasses change how the answer is handed on.
 */
export abstract class RelayedAnswer implements Dispatcher.DispatchController {
  protected controller!: Dispatcher.DispatchController;

  constructor(protected readonly handler: Dispatcher.DispatchHandler) {}

  get aborted(): boolean {
    return this.controller.aborted;
  }

  get reason(): Error | null {
    return this.controller.reason;
  }

  abstract get paused(): boolean;
  abstract abort(reason: Error): void;
  abstract pause(): void;
  abstract resume(): void;

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.controller = controller;
    this.handler.onRequestStart?.(this, context);
  }
}
