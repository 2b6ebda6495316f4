export interface Attack {
  prefix: string;
  unit: string;
  suffix: string;
}
export function textOf(attack: Attack, size: number): string;
export function attacksOn(source: string, flags: string): Attack[];
export function isUnbounded(source: string, flags: string): boolean;
export function attacksFrom(atoms: readonly string[]): Attack[];
export function randomAttack(atoms: readonly string[], random: () => number): Attack;
export function randomFrom(seed: number): () => number;
