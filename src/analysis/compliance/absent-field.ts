/** What to say of a header field that is not there: a failure, unless the header was not read whole. */

import { type Finding, fail, unknown } from '../check.ts';
import { LIMITS, type Message } from '../message.ts';

/** `problem.title` is a sentence ("Your message has no Date field."). */
export function absentField(
  message: Message,
  name: string,
  problem: { title: string; detail: string; fix: string },
): Finding {
  if (message.headerBytes > LIMITS.headerBytes)
    return unknown(
      `Your message's ${name} field could not be found.`,
      'The header is longer than what is looked at; the field may come after that.',
    );
  return fail(problem);
}
