export interface Expression {
  name: string;
  file: string;
  source: string;
  flags: string;
}
export const DEFAULT_MAX: number;
export const DYNAMIC: readonly { file: string; foreign: string; source: string; flags?: string }[];
export function productExpressions(): (Expression & { max: number })[];
export function filesThatBuildExpressions(): string[];
export function literalsIn(file: string, text: string): Expression[];
