/** Octets to text by the character set that a part declares. */

// Names that mail uses and the WHATWG Encoding Standard, hence TextDecoder, does not know.
const ALIASES = new Map([
  ['cp932', 'shift_jis'],
  ['windows-932', 'shift_jis'],
  ['cp936', 'gbk'],
  ['cp949', 'euc-kr'],
  ['uhc', 'euc-kr'],
  ['cp950', 'big5'],
  ['cp1252', 'windows-1252'],
  ['iso-8859-8-e', 'iso-8859-8'],
  ['iso-2022-jp-1', 'iso-2022-jp'],
  ['iso-2022-jp-2', 'iso-2022-jp'],
  ['cp50220', 'iso-2022-jp'],
  ['cp50221', 'iso-2022-jp'],
]);

/**
 * Never throws. Without a declaration UTF-8, which holds US-ASCII; an unknown name is read as
 * windows-1252, which has a character for every octet.
 */
export function decodeText(octets: Uint8Array, charset: string | null): string {
  const label = (charset ?? 'utf-8').trim().toLowerCase();
  try {
    return new TextDecoder(ALIASES.get(label) ?? label).decode(octets);
  } catch {
    return new TextDecoder('windows-1252').decode(octets);
  }
}
