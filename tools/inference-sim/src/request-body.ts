import type { IncomingMessage } from 'node:http';
import { bodyTooLarge, invalidJson } from './openai.errors.js';

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Reads the body as a JSON object.
 * @throws ApiError 413 as soon as the limit is exceeded (the rest is read and dropped, so that the client can read the
 * answer instead of a reset connection), 400 if it is not a JSON object
 */
export async function readJsonObject(request: IncomingMessage, maxBytes: number): Promise<JsonObject> {
  const text = await readText(request, maxBytes);
  const value = parse(text);
  if (!isObject(value)) throw invalidJson();
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson();
  }
}

function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    request.resume();
    return Promise.reject(bodyTooLarge(maxBytes));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      if (bytes > maxBytes) {
        chunks.length = 0;
        reject(bodyTooLarge(maxBytes));
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}
