// What the simulation of the gate runs on a clock of its own.
export { Recorder } from './recorder.js';
export { InFlightCounter, Stay } from '../upstream/in-flight.js';
