import { SlipwayError, type AnswerOf, type ErrorBody } from '@slipway/sdk';
import { API_ROOT, csrfProof } from '../../api/client.js';
import { bytesText } from './file-names.js';
import { filePath } from './file-requests.js';

const TIMEOUT_MS = 10 * 60_000;

export interface FileToPut {
  sandbox: string;
  path: string;
  file: File;
  mayReplace: boolean;
  signal: AbortSignal;
  onProgress: (sent: number) => void;
}

/**
 * Sends the bytes of a file, and reports how many were sent: only `XMLHttpRequest` knows.
 * @throws SlipwayError as the SDK would, or the signal's reason
 */
export function putFile({ sandbox, path, file, mayReplace, signal, onProgress }: FileToPut) {
  return new Promise<AnswerOf<'putSandboxFile'>>((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (code: string, message: string) => reject(new SlipwayError(message, { code, retryable: true }));
    request.open('PUT', `${API_ROOT}${filePath(sandbox, { path, overwrite: String(mayReplace) })}`);
    request.timeout = TIMEOUT_MS;
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader('accept', 'application/json');
    for (const [name, value] of Object.entries(csrfProof())) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () => {
      const answer = jsonOf(request.responseText);
      if (request.status >= 200 && request.status < 300 && answer) resolve(answer as AnswerOf<'putSandboxFile'>);
      else reject(refusalOf(request.status, answer, file.size));
    };
    // An api that refuses a large file by its length answers and closes the connection; some
    // browsers then report only the broken connection.
    request.onerror = () =>
      fail(
        'connection_failed',
        'The connection broke before the API responded. The file may be larger than the API accepts.',
      );
    request.ontimeout = () => fail('timed_out', 'The file was not sent within 10 minutes.');
    request.onabort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function refusalOf(status: number, answer: Record<string, unknown> | undefined, size: number): SlipwayError {
  const said = answer?.error as ErrorBody | undefined;
  if (typeof said?.code !== 'string' || typeof said.message !== 'string')
    return new SlipwayError(`The response with status ${status} does not come from the API.`, {
      code: 'unexpected_answer',
      retryable: status >= 500,
      status,
    });
  const body = tooLarge(said, size);
  return new SlipwayError(body.message, { code: body.code, retryable: body.retryable === true, status, body });
}

/** The api's message is for programs, which choose how to send a file; here the page has already chosen. */
function tooLarge(body: ErrorBody & { max_bytes?: unknown }, size: number): ErrorBody {
  if (body.code !== 'file_too_large' || typeof body.max_bytes !== 'number') return body;
  return {
    ...body,
    message: `The API accepts files of at most ${bytesText(body.max_bytes)}. This file has ${bytesText(size)}.`,
    remediation: 'Split the file, or ask the operator to raise SLIPWAY_UPLOAD_MAX_BYTES.',
  };
}
