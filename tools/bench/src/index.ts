export { BENCHMARKS, type Benchmark, type Finding } from './benchmarks.js';
