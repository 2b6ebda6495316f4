/** Made by `request-schemas.mjs` from the api's document: one module for each operation, by its id. */
declare module 'request:*' {
  export const request: import('./forms/schema.js').RequestSchema;
}
