/** Removes characters that would control the page that shows a text of the message. */

/** Control characters except tab and line feed, and those that override the direction of text. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Well-formed text with a space for each character that controls the layout beyond its own line. */
export const withoutControls = (text: string): string => text.toWellFormed().replace(CONTROLS, ' ');
