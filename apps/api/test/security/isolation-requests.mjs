// How the attackers of isolation specs send requests: at a pace, or so many at once.
import { Agent, request } from 'node:http';

const MIB = 2 ** 20;
/** How long a body of more than a MiB waits for a refusal of its headers. */
const HEAD_FIRST_MS = 1_000;
const agent = new Agent({ keepAlive: true, maxFreeSockets: 512 });

/** Tries this many requests per second, whatever the results. */
export function paced(perSecond, what) {
  return {
    run(times, signal, count) {
      const began = performance.now();
      let sent = 0;
      let open = 0;
      const timer = setInterval(() => {
        const due = Math.floor(((performance.now() - began) * perSecond * times) / 1_000);
        // Requests that cannot be sent in time are dropped: the attack is a rate and not a debt.
        for (; sent < due; sent += 1) {
          if (open >= Math.max(1, perSecond * times)) continue;
          open += 1;
          void ask(what(), signal).then((answer) => ((open -= 1), count(answer)));
        }
      }, 10);
      signal.addEventListener('abort', () => clearInterval(timer));
    },
  };
}

/** Holds this many requests open at once, and sends each again that was refused or has ended. */
export function kept(atOnce, againMs, what) {
  return {
    run(times, signal, count) {
      const one = async () => {
        await pause(Math.random() * againMs, signal);
        while (!signal.aborted) {
          const answer = await ask(what(), signal);
          count(answer);
          if (answer !== '200') await pause(againMs * (0.5 + Math.random()), signal);
        }
      };
      for (let index = 0; index < atOnce * times; index += 1) void one();
    },
  };
}

/**
 * Resolves to the status and the code of the error; to `cut` if there was no
 * answer, and to `open` if the phase ended it. With `mostBytes` the client leaves after so many bytes of the answer.
 */
function ask({ port, token, method = 'GET', path, type, headers, body, stallMs, mostBytes = Infinity }, signal) {
  return new Promise((resolve) => {
    let status = '';
    let text = '';
    const sent = request({
      port,
      host: '127.0.0.1',
      method,
      path,
      agent,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': type ?? 'application/json', 'content-length': body.length }),
        ...headers,
      },
    });
    const end = (answer) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve(answer);
    };
    const stop = () => (end(status === '' ? 'open' : `${status} open`), sent.destroy());
    let timer;
    signal.addEventListener('abort', stop);
    sent.on('error', () => end(status === '' ? 'cut' : named(status, text)));
    sent.on('close', () => end(status === '' ? 'cut' : named(status, text)));
    sent.on('response', (answer) => {
      status = String(answer.statusCode);
      clearTimeout(timer);
      answer.on('error', () => undefined);
      let bytes = 0;
      answer.on('data', (chunk) => {
        if (text.length < 2_000) text += chunk;
        bytes += chunk.length;
        if (bytes >= mostBytes) sent.destroy();
      });
      answer.on('end', () => {
        end(named(status, text));
        if (!sent.writableFinished) sent.destroy();
      });
    });
    if (!body || (!stallMs && body.length <= MIB)) return sent.end(body);
    // A rate limit refuses a request by its headers: waiting for that saves the
    // machine bytes that would only be discarded.
    sent.flushHeaders();
    timer = setTimeout(() => {
      if (!stallMs) return sent.end(body);
      const most = body.length - 1;
      sent.write(body.subarray(0, most));
      if (stallMs < Infinity) timer = setTimeout(() => sent.end(body.subarray(most)), stallMs);
    }, HEAD_FIRST_MS);
  });
}

function named(status, text) {
  const code = status < '400' ? undefined : /"code":\s*"([a-z_]+)"/.exec(text)?.[1];
  return code === undefined ? status : `${status} ${code}`;
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
