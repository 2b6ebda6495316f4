// The parts of this area that a fake of its port uses.
export { startRules } from '../lifecycle/start-rules.js';
