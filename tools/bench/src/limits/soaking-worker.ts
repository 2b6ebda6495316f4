import { Injectable, Module } from '@nestjs/common';
import {
  defineOperation,
  done,
  DurableOperation,
  inputOf,
  sleep,
  type OperationOf,
  type StepContext,
} from '@slipway/platform-durable/operations';
import { startEngine } from './engine-context.js';

// A worker process with one kind of operation, whose only step sleeps as a rollout's soak does. The benchmark writes the rows.
interface SoakInput {
  soakMs: number;
}

const SOAKING = defineOperation({ kind: 'bench', input: inputOf<SoakInput>(), steps: ['soak'] });

@Injectable()
@DurableOperation(SOAKING)
class SoakingOperation implements OperationOf<typeof SOAKING> {
  readonly steps = {
    soak: async ({ input, step }: StepContext<SoakInput>) => {
      const leftMs = input.soakMs - step.elapsedMs();
      return leftMs <= 0 ? done() : sleep({ forMs: leftMs, status: 'waiting', message: 'soaking' });
    },
  };
  readonly unwind = {};
}

@Module({ providers: [SoakingOperation] })
class SoakingModule {}

await startEngine(SoakingModule);
process.on('disconnect', () => process.exit(0));
process.send?.(0);
