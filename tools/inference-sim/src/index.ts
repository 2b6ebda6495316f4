export { startSimulator, type Simulator } from './simulator.js';
export { DEFAULT_OPTIONS, FLAGS, FlagError, parseFlags, usage, type SimulatorOptions } from './flags.js';
