// Starts the server that its arguments name, without environment and in its own session, and keeps running.
import { spawn } from 'node:child_process';

spawn(process.execPath, process.argv.slice(2), { env: {}, stdio: 'ignore', detached: true });
setInterval(() => undefined, 1_000);
