/** Which checks are skipped for a template, because they need a sent message. */

import { type Check, skipped } from '../check.ts';
import { fields } from '../mime/message.ts';
import { LEFT_OUT } from '../result.ts';
import { isTagged, type Template } from './template.ts';

const SENT = 'the check needs a sent message';
const SENDER_ADDS = 'your sending system adds it';
const SENDER_ENCODES = 'your sending system encodes it';

/** Why a check of a message is left out, as a clause. Checks of content are missing: they run. */
const BY_CATEGORY: Partial<Record<Check['category'], string>> = {
  authentication: SENT,
  infrastructure: SENT,
  reputation: SENT,
  spam_filters: SENT,
};
const BY_CHECK: Record<string, string> = {
  date: SENDER_ADDS,
  message_id: SENDER_ADDS,
  recipients: SENDER_ADDS,
  line_length: SENDER_ENCODES,
  encoding: SENDER_ENCODES,
  one_click_signed: SENT,
};
/** These look only at the body, or at what every template has. */
const ALWAYS = ['link_blocklists', 'unsubscribe_link'];
/** These need fields with known values. */
const NEEDED_FIELDS: Record<string, string[]> = {
  from: ['from'],
  reply_to: ['from', 'reply-to'],
  no_reply: ['from'],
  list_unsubscribe: ['list-unsubscribe'],
  one_click: ['list-unsubscribe'],
  feedback_id: ['feedback-id'],
  precedence: ['precedence'],
};
/** In the subject, merge tags have stand-ins. */
const NEEDS_SUBJECT = ['subject', 'subject_style'];
/** A file with HTML alone becomes one part of a message. */
const NEEDS_HEADER = ['header_duplicates', 'message_protection', 'text_part', 'text_matches_html'];

/** The checks for a template: those that need a sent message are skipped. */
export const checksOfTemplate = (checks: Check[], template: Template): Check[] =>
  checks.map((check) => ({
    ...check,
    run(context) {
      const reason = reasonToSkip(check, template);
      if (reason === null) return check.run(context);
      return skipped(`${check.label}: not checked.`, `${LEFT_OUT}${reason}.`);
    },
  }));

function reasonToSkip({ id, category }: Check, template: Template): string | null {
  const { message, isBody, isPart } = template;
  if (ALWAYS.includes(id)) return null;
  const reason = BY_CHECK[id] ?? BY_CATEGORY[category];
  if (reason !== undefined) return reason;
  if (isBody && NEEDS_HEADER.includes(id)) return 'it has no header and no text part';
  if (NEEDS_SUBJECT.includes(id) && message.subject === null) return 'it has no subject';
  if (id === 'html_structure' && isPart) return 'other files can close its tags';
  const needed = NEEDED_FIELDS[id] ?? [];
  const found = needed.map((name) => fields(message, name));
  if (found.some((each) => each.length === 0)) return SENDER_ADDS;
  return found.flat().some(isTagged) ? 'it has merge tags, which are filled in later' : null;
}
