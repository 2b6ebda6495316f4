export { startSimulator, type Simulator } from './simulator.js';
export { DEFAULT_OPTIONS, FLAGS, FlagError, parseFlags, usage, type SimulatorOptions } from './flags.js';
export { IterationScheduler, type Sequence, type Work } from './iteration-scheduler.js';
export { DEFAULT_ITERATION, type IterationOptions, type IterationSettings } from './iteration-settings.js';
