/** Every spelling of one kebab-case name. */
exports.spellings = function spellings(kebab) {
  const words = kebab.split('-');
  const pascal = words.map(capitalised).join('');
  return {
    kebab,
    pascal,
    camel: pascal[0].toLowerCase() + pascal.slice(1),
    snake: words.join('_'),
    constant: words.join('_').toUpperCase(),
    words: words.join(' '),
    title: capitalised(words.join(' ')),
  };
};

exports.singularOf = function singularOf(plural) {
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`;
  return /[^s]s$/.test(plural) ? plural.slice(0, -1) : plural;
};

function capitalised(text) {
  return text[0].toUpperCase() + text.slice(1);
}
