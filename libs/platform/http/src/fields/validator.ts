import {
  getMetadataStorage,
  useContainer,
  validateSync,
  type ValidationError,
  type ValidatorOptions,
} from 'class-validator';

const OPTIONS: ValidatorOptions = {
  whitelist: true,
  forbidNonWhitelisted: true,
  forbidUnknownValues: true,
  stopAtFirstError: true,
  // The faults shall not hold on to what was sent.
  validationError: { target: false, value: false },
};

/** What class-validator has to say about an instance of a DTO class. No rule here waits for anything. */
export function faultsIn(dto: object): ValidationError[] {
  return validateSync(dto, OPTIONS);
}

// For each constraint it meets, class-validator's own container searches the list of all it has met before.
const constraints = new Map<Function, unknown>();
useContainer({
  get(type) {
    if (!constraints.has(type)) constraints.set(type, Reflect.construct(type as Function, []));
    return constraints.get(type) as never;
  },
});

// For each object, class-validator looks through all classes for its parents and sorts their rules by property. Both are kept.
const storage = getMetadataStorage();
const lookUp = storage.getTargetValidationMetadatas.bind(storage);
const known = new WeakMap<Function, ReturnType<typeof lookUp>>();
storage.getTargetValidationMetadatas = (type, schema, always, strictGroups, groups) => {
  if (always || strictGroups || groups) return lookUp(type, schema, always, strictGroups, groups);
  const rules = known.get(type) ?? lookUp(type, schema, always, strictGroups, groups);
  known.set(type, rules);
  return rules;
};
const sort = storage.groupByPropertyName.bind(storage);
const sorted = new WeakMap<object, ReturnType<typeof sort>>();
storage.groupByPropertyName = (rules) => {
  const groups = sorted.get(rules) ?? sort(rules);
  sorted.set(rules, groups);
  return groups;
};
