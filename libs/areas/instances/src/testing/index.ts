// What a fake of this area's port takes from the area itself.
export { startRules } from '../lifecycle/start-rules.js';
