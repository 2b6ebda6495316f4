import type { TargetKind } from '@slipway/target-driver';

/**
 * A kind of target whose code is loaded only when a file names it.
 * @param load imports it; retried at the next use if it fails
 */
export function onDemand(kind: string, load: () => Promise<TargetKind>): TargetKind {
  let loaded: TargetKind | undefined;
  const code = (): TargetKind => {
    if (!loaded) throw new Error(`the code for targets of kind ${kind} is not loaded: write the kind exactly as here`);
    return loaded;
  };
  return {
    kind,
    load: async () => void (loaded ??= await load()),
    get schema() {
      return code().schema;
    },
    get maxInstances() {
      return code().maxInstances;
    },
    read: (reader, path, entry) => code().read(reader, path, entry),
    createDriver: (config, host) => code().createDriver(config, host),
  };
}
