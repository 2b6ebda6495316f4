/** Who answers for a token. */
export const ownerText = ({ type, id }: { type: string; id: string }): string => `${type} ${id}`;
