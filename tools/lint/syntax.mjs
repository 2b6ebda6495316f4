/** The definition of a name at a node, of the nearest scope that has one. Globals of the platform have none. */
export function definitionOf(sourceCode, node, name) {
  for (let scope = sourceCode.getScope(node); scope; scope = scope.upper) {
    const definition = scope.set.get(name)?.defs[0];
    if (definition) return definition.node;
  }
  return undefined;
}

/** The expression in `… as T` and `… satisfies T`. */
export function withoutTypes(node) {
  return /^TS(As|Satisfies)Expression$/.test(node?.type) ? withoutTypes(node.expression) : node;
}

/** `require(…)`, `createRequire(…)(…)` and `process.getBuiltinModule(…)`. */
export function isRequire(callee) {
  if (callee.type === 'CallExpression') return callee.callee.name === 'createRequire';
  return callee.name === 'require' || callee.property?.name === 'getBuiltinModule';
}
