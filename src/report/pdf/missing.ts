/** Text that no font has: a marker says what it is. It is copied, searched and read aloud as the text itself. */

export interface MissingText {
  text: string;
  /** What is drawn. */
  marker: string;
}

/** Scripts that people write today, as Unicode names them, and that no bundled font has. */
const SCRIPTS = [
  ...['Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam'],
  ...['Sinhala', 'Tibetan', 'Myanmar', 'Khmer', 'Lao', 'Ethiopic', 'Cherokee', 'Mongolian'],
  ...['Syriac', 'Thaana', 'Javanese', 'Balinese', 'Sundanese', 'Cham', 'Ol_Chiki', 'Meetei_Mayek'],
  ...['Vai', 'Adlam', 'Tai_Le', 'New_Tai_Lue', 'Lepcha', 'Limbu', 'Yi', 'Hanifi_Rohingya'],
  ...['Han', 'Hangul', 'Arabic', 'Hebrew', 'Thai', 'Devanagari', 'Latin', 'Greek', 'Cyrillic'],
].map((name) => ({
  name: name.replaceAll('_', ' '),
  pattern: new RegExp(`\\p{Script=${name}}`, 'u'),
}));

/** Unassigned, for private use, or half of a surrogate pair. */
const UNKNOWN = /^[\p{Cn}\p{Co}\p{Cs}]/u;
const LETTER = /^[\p{L}\p{N}]/u;
const MARK = /^\p{M}/u;

/** `previous` is the marker of the text before it, to which marks belong. */
export function missingText(text: string, previous: string | null): MissingText {
  return { text, marker: (MARK.test(text) && previous) || `[${nameOf(text)}]` };
}

function nameOf(text: string): string {
  if (UNKNOWN.test(text)) return 'unknown character';
  const script = SCRIPTS.find(({ pattern }) => pattern.test(text));
  if (script) return `${script.name} text: no font`;
  return LETTER.test(text) ? 'text: no font' : 'symbol: no font';
}
