/** Formats the owner of a token. */
export const ownerText = ({ type, id }: { type: string; id: string }): string => `${type} ${id}`;
