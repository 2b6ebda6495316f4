/** Shows a description of the document: text between backticks is code. */
export function Marked({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 1 ? (
      // A default may be a whole object without a space.
      <code key={index} className="wrap-anywhere">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
