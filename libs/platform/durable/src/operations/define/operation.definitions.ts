import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import {
  baseName,
  definedOperations,
  priorityOf,
  type OperationPriority,
  type OperationDefinition,
  type AnyInput,
} from './operation.definition.js';
import type { OperationOf, Step } from './steps.js';

/** Marks a provider as the implementation of an operation: `@DurableOperation(ROLLOUT)`. */
export const DurableOperation = DiscoveryService.createDecorator<OperationDefinition>();

/** A definition with its implementation. */
export interface RunnableOperation extends Pick<
  OperationOf<OperationDefinition>,
  'finish' | 'reclaim' | 'beginUnwind' | 'assertMay' | 'atPause'
> {
  definition: OperationDefinition;
  /** By base name. */
  steps: Record<string, Step<AnyInput>>;
  /** In the order in which they run. */
  unwind: readonly { name: string; undoes: readonly string[]; run: Step<AnyInput> }[];
}

/**
 * The operations of this process, found at boot. The boot fails if an operation has no implementation, two of them, or
 * one that lacks a step.
 */
@Injectable()
export class OperationDefinitions implements OnModuleInit, OnApplicationBootstrap {
  private readonly byKind = new Map<string, RunnableOperation>();

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    for (const provider of this.discovery.getProviders({ metadataKey: DurableOperation.KEY })) {
      const definition = this.discovery.getMetadataByDecorator(DurableOperation, provider)!;
      this.add(definition, provider.instance as OperationOf<OperationDefinition>);
    }
  }

  onApplicationBootstrap(): void {
    const missing = definedOperations().filter(({ kind }) => !this.byKind.has(kind));
    if (missing.length > 0)
      throw new Error(`no implementation of the operations ${missing.map(({ kind }) => kind).join(', ')}`);
  }

  add<D extends OperationDefinition>(definition: D, operation: OperationOf<D>): void {
    const { kind, unwind } = definition;
    if (this.byKind.has(kind)) throw new Error(`operation ${kind} has two implementations`);
    const steps = operation.steps as Record<string, Step<AnyInput>>;
    const back = operation.unwind as Record<string, Step<AnyInput>>;
    assertSame(kind, definition.steps.map(baseName), Object.keys(steps));
    assertSame(kind, Object.keys(unwind), Object.keys(back));
    this.byKind.set(kind, {
      definition,
      steps,
      unwind: Object.entries(unwind).map(([name, undoes]) => ({ name, undoes, run: back[name] as Step<AnyInput> })),
      finish: operation.finish?.bind(operation),
      reclaim: operation.reclaim?.bind(operation),
      beginUnwind: operation.beginUnwind?.bind(operation),
      assertMay: operation.assertMay?.bind(operation),
      atPause: operation.atPause?.bind(operation),
    });
  }

  find(kind: string): RunnableOperation | undefined {
    return this.byKind.get(kind);
  }

  get kinds(): string[] {
    return [...this.byKind.keys()];
  }

  kindsOf(priorities: readonly OperationPriority[]): string[] {
    return [...this.byKind.values()]
      .filter(({ definition }) => priorities.includes(priorityOf(definition)))
      .map(({ definition }) => definition.kind);
  }
}

function assertSame(kind: string, defined: readonly string[], implemented: readonly string[]): void {
  const missing = defined.filter((name) => !implemented.includes(name));
  const unknown = implemented.filter((name) => !defined.includes(name));
  if (missing.length > 0) throw new Error(`the implementation of ${kind} lacks the steps ${missing.join(', ')}`);
  if (unknown.length > 0)
    throw new Error(`the implementation of ${kind} has steps that are not defined: ${unknown.join(', ')}`);
}
