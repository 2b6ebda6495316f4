export * from './types.js';
export { diagnose } from './diagnose.js';
export { Predictor, type Prediction, type PredictionResult } from './predictor.js';
export { nameOf, replicasText } from './messages.js';
export { sideOf } from './interval.js';
export { distributionOf } from './curve.js';
export {
  calibrate,
  hasMoved,
  LEAST_SCORES,
  levelOf,
  summarize,
  UNCALIBRATED,
  type Calibration,
  type CalibrationSummary,
} from './calibration.js';
export {
  achievedIn,
  judgeOutcome,
  recordsAtRate,
  type Expectation,
  type ComparedOutcome,
  type ServedRecords,
} from './achieved.js';
export { differs } from './workload.js';
