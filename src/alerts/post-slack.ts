/** Posts one message to Slack, and says in half a sentence why it has not arrived. */

import type { App } from '../app.ts';
import type { PostOutcome } from '../net/post.ts';
import type { Notice } from './notice.ts';
import { slackMessage } from './slack.ts';

export interface Failure {
  /** Half a sentence for people, without the address. */
  reason: string;
  /** No later attempt would come to anything else. */
  final: boolean;
  /** Not posted at all, because other news say it too. */
  suppressed?: true;
}

/** null: it has arrived; `closed`: the service is ending, and nothing is known. Never in a transaction. */
export async function postToSlack(
  { poster, version }: Pick<App, 'poster' | 'version'>,
  url: string,
  notice: Notice,
): Promise<Failure | null | 'closed'> {
  const outcome = await poster.post({
    url,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': `deliverability/${version} (alerts)`,
    },
    body: JSON.stringify(slackMessage(notice)),
  });
  return outcome === null ? 'closed' : failureOf(outcome);
}

/** null: it has arrived. Success is a whole answer with a status of 2xx. */
function failureOf({ answer, failure }: PostOutcome): Failure | null {
  if (failure !== null) {
    const { reason, detail } = failure;
    const final = reason === 'forbidden_address' || reason === 'bad_url';
    return { reason: `${reason}: ${detail}`, final };
  }
  const { code } = answer!;
  if (code >= 200 && code < 300) return null;
  return { reason: `status ${code}: only 2xx is a success`, final: false };
}
