import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TYPESCRIPT_CHILD } from '@slipway/platform-testing/typescript-child';

export interface ServerProcess {
  child: ChildProcess;
  origin: string;
  /** Current bytes, and the most since the last reset. */
  memory(question: 'reset' | 'peak'): Promise<{ peak: number; rss: number }>;
  /** Resolves when the process waits at its pause point. */
  paused(name: string): Promise<void>;
  /** Sends SIGKILL and resolves when the process is gone. */
  kill(): Promise<void>;
}

const root = fileURLToPath(new URL('../../../../', import.meta.url));

export async function startServer(options: {
  databaseUrl: string;
  workspaceStore: string;
  maxBytes: number;
  pausePoint?: string;
}): Promise<ServerProcess> {
  const child = fork(fileURLToPath(new URL('server-main.ts', import.meta.url)), [JSON.stringify(options)], {
    cwd: root,
    execArgv: [...TYPESCRIPT_CHILD],
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr!.on('data', (chunk) => (errors += chunk.toString()));
  const origin = await new Promise<string>((resolve, reject) => {
    child.once('message', (message: { origin: string }) => resolve(message.origin));
    child.once('exit', (code) => reject(new Error(`the server exited with ${code}: ${errors}`)));
  });
  return {
    child,
    origin,
    memory: async (question) => {
      const answer = once(child, 'message');
      child.send(question);
      return (await answer)[0] as { peak: number; rss: number };
    },
    paused: async (name) => {
      while (!errors.includes(`paused at ${name}\n`)) await once(child.stderr!, 'data');
    },
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
