/** Times as mails and messages write them. */

const FORMAT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** Of an ISO 8601 time: `28 November 2026 at 10:00 UTC`. */
export function timeInWords(time: string): string {
  return `${FORMAT.format(new Date(time))} UTC`;
}
