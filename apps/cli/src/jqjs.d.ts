/** jq's language in JavaScript: it ships no types. */
declare module '@michaelhomer/jqjs' {
  const jq: { compile(filter: string): ((input: unknown) => Iterable<unknown>) & { ast: object } };
  export default jq;
}
