/** Language tags. */

/** Longer tags have extensions, which could replace the calendar or the digits. */
const MAX_LENGTH = 35;

/** The tag with the usual capitalization (`en-GB`); null if it is not one, or if the runtime does not know the language. */
export function canonicalLocale(tag: string): string | null {
  if (tag.length > MAX_LENGTH || /(?:^|-)[a-z\d](?:-|$)/i.test(tag)) return null;
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag)[0] ?? null;
  } catch {
    return null;
  }
}
