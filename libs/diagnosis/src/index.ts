export * from './types.js';
export { diagnose } from './diagnose.js';
export { Predictor, type Prediction, type PredictionResult } from './predictor.js';
export { amount, nameOf, ranged, rounded } from './messages.js';
export { isOutside, leastSamples, sideOf } from './interval.js';
export { distributionOf } from './curve.js';
export { peakRate } from './workload.js';
