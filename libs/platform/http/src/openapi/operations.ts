import type { OpenAPIObject } from '@nestjs/swagger';
import type { Parameter } from './parameters.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

export interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: unknown; example?: unknown }> };
  responses: Record<string, unknown>;
  [extension: string]: unknown;
}

/** Returns every operation of a document with its path and method. */
export function operationsOf(document: OpenAPIObject): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({
      path,
      method,
      operation: item[method] as unknown as Operation,
    })),
  );
}
