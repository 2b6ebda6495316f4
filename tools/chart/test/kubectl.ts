import { spawn } from 'node:child_process';
import { childEnvironment } from '@slipway/platform-config';

const LIMIT_MS = 60_000;

export interface CommandResult {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs kubectl against one API server. */
export function kubectlAt(program: string, kubeconfig: string) {
  return (args: string[], input = ''): Promise<CommandResult> =>
    new Promise((resolve, reject) => {
      const env = childEnvironment({ KUBECONFIG: kubeconfig });
      const child = spawn(program, args, { env, timeout: LIMIT_MS, stdio: 'pipe' });
      const said: CommandResult = { status: null, stdout: '', stderr: '' };
      child.stdout.on('data', (chunk) => (said.stdout += chunk));
      child.stderr.on('data', (chunk) => (said.stderr += chunk));
      child.once('error', reject);
      // kubectl may end before it has read all input.
      child.stdin.on('error', () => undefined);
      child.once('close', (status) => resolve({ ...said, status }));
      child.stdin.end(input);
    });
}
