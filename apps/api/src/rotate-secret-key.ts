import { loadConfigOrExit } from '@slipway/platform-config';
import { rotateSecretKey } from '@slipway/platform-database';
import { KEY_USES, SEALED } from '@slipway/registry';

try {
  process.exitCode = await rotateSecretKey(
    loadConfigOrExit({ process: 'tools' }),
    SEALED,
    KEY_USES,
    process.argv.slice(2),
  );
} catch (failure) {
  process.stderr.write(
    `the secret key cannot be rotated: ${failure instanceof Error ? failure.message : String(failure)}\n`,
  );
  process.exitCode = 2;
}
