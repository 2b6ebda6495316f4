import type { Schema } from './src/forms/schema.js';

export interface OperationAddress {
  method: string;
  path: string;
}

export function changingOperations(): (OperationAddress & { id: string })[];
export function requestOf(operationId: string): OperationAddress & { schema: Schema };
export function requestSchema(operationId: string): Schema;
export function requestModule(operationId: string): Promise<string>;
