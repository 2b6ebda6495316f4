/** Shows a description of the document: text between backticks is code. */
export function Marked({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
