export const PLAIN: Record<string, string>;
