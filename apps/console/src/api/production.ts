/** Whether changes of a deployment in this environment need its name to be typed, as on the command line. */
export const isProduction = (environment: string | null | undefined): boolean =>
  /^prod(uction)?$/i.test(environment ?? '');
