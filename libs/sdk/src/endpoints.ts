export { ENDPOINTS, type Endpoint } from './generated/endpoints.js';
export { INPUTS, type InputField, type OperationInput } from './generated/inputs.js';
