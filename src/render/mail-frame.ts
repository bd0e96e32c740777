/** The frame of every e-mail that the service sends: a written text part, and HTML that needs nothing from outside. */

import type { MailContent } from './mail-content.ts';
import { writeHtml } from './mail-html.ts';
import { writeText } from './mail-text.ts';

export type { MailContent };

/** Both parts say the same. The text part is written out of the same words, never stripped from the HTML. */
export function mailFrame(content: MailContent): { text: string; html: string } {
  const { button, ...rest } = content;
  // Written out as browsers do it: a line end in it would end it.
  const written = button && { label: button.label, url: new URL(button.url).href };
  return {
    text: writeText({ ...rest, button: written }),
    html: writeHtml({ ...rest, button: written }),
  };
}
