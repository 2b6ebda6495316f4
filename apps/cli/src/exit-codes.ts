import type { SlipwayError } from '@slipway/sdk';

/** The exit codes that a script can branch on. docs/cli.md lists them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  cancelled: 2,
  operationFailed: 3,
  needsLogin: 4,
  timedOut: 5,
  notFound: 6,
  conflict: 7,
  needsPerson: 8,
  /** As of a program that SIGPIPE ended: the reader of its output left. */
  readerLeft: 141,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error of the command itself: it has an exit code and a remedy, and is shown without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.failed,
    readonly remediation?: string,
  ) {
    super(message);
  }
}

/** Compares by name: a run that only prints help has not loaded the sdk, so its classes are not available here. */
export function asSlipwayError(error: unknown): SlipwayError | undefined {
  return error instanceof Error && ['SlipwayError', 'OperationFailed'].includes(error.name)
    ? (error as SlipwayError)
    : undefined;
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  const refusal = asSlipwayError(error);
  if (!refusal) return EXIT.failed;
  if (refusal.name === 'OperationFailed') {
    const { operation } = refusal as SlipwayError & { operation: { status: string } };
    return operation.status === 'cancelled' ? EXIT.cancelled : EXIT.operationFailed;
  }
  switch (refusal.category) {
    case 'authentication':
      return EXIT.needsLogin;
    case 'not_found':
      return EXIT.notFound;
    case 'conflict':
    case 'precondition':
      return EXIT.conflict;
    default:
      return EXIT.failed;
  }
}
