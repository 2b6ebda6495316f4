import { loadConfigOrExit } from '@slipway/platform-config';
import { COMMANDS } from '@slipway/registry';

try {
  process.exitCode = await COMMANDS['audit-verify']!(loadConfigOrExit({ process: 'tools' }), process.argv.slice(2));
} catch (failure) {
  process.stderr.write(
    `the audit log cannot be verified: ${failure instanceof Error ? failure.message : String(failure)}\n`,
  );
  process.exitCode = 2;
}
