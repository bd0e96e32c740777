/** The job that posts to Slack what is due: claim, post, record. */

import type { App } from '../app.ts';
import { errorMessage } from '../lib/errors.ts';
import { claimingJob } from '../scheduler/claiming-job.ts';
import type { Job } from '../scheduler/scheduler.ts';
import type { AlertRow } from '../store/watching-tables.ts';
import { slackUrlOf } from './channels.ts';
import { type ClaimedPost, claimPosts } from './claim-posts.ts';
import { TOLD_TOO_LATE } from './drop-late.ts';
import { type Notice, noticeOf } from './notice.ts';
import { NOTIFY_JOB } from './notifications.ts';
import { findOccasion } from './occasion.ts';
import { type Failure, postToSlack } from './post-slack.ts';
import { isOver } from './present.ts';
import { recordPost } from './record-post.ts';

const AT_ONCE = 20;

export function notifyJob(app: App): Job {
  /** To which address each goes that is under way. */
  const underWay = new Map<string, string>();
  return claimingJob({
    name: NOTIFY_JOB,
    atOnce: AT_ONCE,
    claim: (limit) => claimPosts(app, limit, underWay),
    work: (claimed) =>
      postOne(app, claimed).finally(() => {
        underWay.delete(claimed.id);
        // Its address has room again.
        app.scheduler.wake(NOTIFY_JOB);
      }),
    // The lease runs out, and it is posted again.
    failed: ({ id }, error) =>
      app.log.error('posting an alert failed', { notification: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wake(NOTIFY_JOB),
  });
}

async function postOne(app: App, claimed: ClaimedPost): Promise<void> {
  const message = await composed(app, claimed).catch((error) => {
    app.log.error('an alert could not be composed', {
      notification: claimed.id,
      error: errorMessage(error),
    });
    return UNSPEAKABLE;
  });
  if ('reason' in message) return recordPost(app, claimed, message);
  const outcome = await postToSlack(app, message.url, message.notice);
  // Where we are closing, the next start posts it again.
  if (outcome !== 'closed') await recordPost(app, claimed, outcome);
}

const UNSPEAKABLE: Failure = {
  reason: 'the message could not be written: the log of the service says why',
  final: false,
};
const forGood = (reason: string): Failure => ({ reason, final: true });

/** In the words of the rule as it was when the incident opened; or why there is nothing to post. */
async function composed(
  app: App,
  { alert_id, incident_id, news }: ClaimedPost,
): Promise<{ url: string; notice: Notice } | Failure> {
  const { db } = app;
  const alert = await db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', alert_id)
    .executeTakeFirst();
  if (!alert) return forGood('the rule was deleted before it was posted');
  const url = slackUrlOf(app, alert);
  if (url === null)
    return forGood('there is no address of Slack any more, or it cannot be decrypted');
  const incident = await db
    .selectFrom('alert_incidents')
    .selectAll()
    .where('id', '=', incident_id)
    .executeTakeFirst();
  if (news === 'triggered' && incident && isOver(incident))
    return { reason: TOLD_TOO_LATE, final: true, suppressed: true };
  const rule = incident ? asItOpened(alert, incident) : alert;
  const occasion = await findOccasion(db, news, rule, incident ?? null);
  return { url, notice: noticeOf(app.config, occasion) };
}

/** The rule may ask for something else by now. */
const asItOpened = (
  alert: AlertRow,
  { condition, threshold }: Pick<AlertRow, 'condition' | 'threshold'>,
): AlertRow => ({ ...alert, condition, threshold });
