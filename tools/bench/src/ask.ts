import type { ChildProcess } from 'node:child_process';

/** Sends an order to one of our own processes and waits for its answer, `{error}` of which is thrown. */
export function sendOrder<T>(child: ChildProcess, order: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const lost = (): void => reject(new Error('the process of the benchmark died'));
    child.once('exit', lost);
    child.once('message', (answer) => {
      child.off('exit', lost);
      const { error } = answer as { error?: string };
      if (error === undefined) resolve(answer as T);
      else reject(new Error(error));
    });
    child.send(order);
  });
}
