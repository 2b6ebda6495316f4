/** Reads only the beginning of a body, up to about this many characters, because a server may answer without end. */
export async function textAtStart({ body }: Response, mostCharacters: number): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= mostCharacters) break;
  }
  return text;
}
