export const OUTBOUND: Record<string, string>;
