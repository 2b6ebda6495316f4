import type { Schema } from './src/forms/schema.js';

export function requestSchema(operationId: string): Schema;
export function requestModule(operationId: string): Promise<string>;
