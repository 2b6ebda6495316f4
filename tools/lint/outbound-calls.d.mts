export const OUTBOUND: Record<string, string>;
export const HARMLESS: Record<string, string[] | null>;
export const LIBRARIES: Record<string, string>;
export const NOT_CONNECTING: string[];
