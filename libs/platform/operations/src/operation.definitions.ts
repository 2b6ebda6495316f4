import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { DurableOperation, type OperationDefinition } from './operation.definition.js';

/** All definitions of this process, found at boot. A kind with two of them refuses to start. */
@Injectable()
export class OperationDefinitions implements OnModuleInit {
  private readonly byKind = new Map<string, OperationDefinition>();

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    for (const provider of this.discovery.getProviders({ metadataKey: DurableOperation.KEY })) {
      this.add(provider.instance as OperationDefinition);
    }
  }

  add(definition: OperationDefinition): void {
    if (this.byKind.has(definition.kind)) throw new Error(`operation kind ${definition.kind} has two definitions`);
    this.byKind.set(definition.kind, definition);
  }

  find(kind: string): OperationDefinition | undefined {
    return this.byKind.get(kind);
  }

  get kinds(): string[] {
    return [...this.byKind.keys()];
  }
}
