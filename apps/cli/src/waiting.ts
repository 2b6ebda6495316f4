export { watchOperation as waitForOperation } from './progress/watch.js';
