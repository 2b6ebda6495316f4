export { BENCHMARKS, type Benchmark } from './benchmarks.js';
export type { Figure } from './figure.js';
export type { Finding } from './finding.js';
