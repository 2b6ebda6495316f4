// Gives answers their own copies of the schemas that requests also use, if a list of values is among them: a request may
// have only the listed values, but a later api may answer with more.

/** @returns the names of the components that answers use; their lists of values may be opened */
export function separateAnswers({ paths, components: { schemas } }) {
  const operations = Object.values(paths).flatMap(Object.values);
  const requested = reachable(
    operations.flatMap(({ requestBody, parameters }) => [requestBody, parameters]),
    schemas,
  );
  const answers = operations.map(({ responses }) => responses);
  const copies = new Map(
    [...reachable(answers, schemas)]
      .filter((name) => requested.has(name) && hasValues(name, schemas))
      .map((name) => [name, nameOfCopy(name, schemas)]),
  );
  for (const [name, copy] of copies) schemas[copy] = structuredClone(schemas[name]);
  const seen = new Set();
  point(answers);
  return reachable(answers, schemas);

  /** Leads every reference within a part of an answer to a copy, if there is one. */
  function point(node) {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    const name = nameIn(node.$ref);
    if (copies.has(name)) node.$ref = `#/components/schemas/${copies.get(name)}`;
    if (name !== undefined) point(schemas[copies.get(name) ?? name]);
    Object.values(node).forEach(point);
  }
}

/** Returns the components that these parts of a document refer to, directly or not. */
function reachable(roots, schemas, found = new Set()) {
  const visit = (node) => {
    if (typeof node !== 'object' || node === null) return;
    const name = nameIn(node.$ref);
    if (name !== undefined && !found.has(name)) {
      found.add(name);
      visit(schemas[name]);
    }
    Object.values(node).forEach(visit);
  };
  visit(roots);
  return found;
}

function hasValues(name, schemas) {
  const listed = (node) =>
    typeof node === 'object' && node !== null && (Array.isArray(node.enum) || Object.values(node).some(listed));
  return [...reachable([{ $ref: name }], schemas)].some((one) => listed(schemas[one]));
}

/** @throws if the document has a schema of this name already */
function nameOfCopy(name, schemas) {
  const copy = `${name.replace(/Dto$/, '')}AnswerDto`;
  if (copy in schemas) throw new Error(`the document has both ${name} and ${copy}`);
  return copy;
}

const nameIn = (reference) => (typeof reference === 'string' ? reference.split('/').pop() : undefined);
