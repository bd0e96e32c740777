/**
 * Notifications of programs about what somebody did: a comment, a commit, a new version of a page. They
 * have the fields of lists, because people can turn them off, but nobody sent them to promote anything.
 */

import { isCampaignField } from '../bulk-sender.ts';
import { isInThread } from '../quotes/sender-part.ts';
import { hasField, type MailFacts } from './mail-facts.ts';
import { findPhrases } from './phrase-search.ts';
import { ACTIONS } from './phrases.ts';

/** What the fields of programs for teams begin with, in lower case, and how the reason names the program. */
const PROGRAMS: Record<string, string> = {
  'x-github-': 'GitHub',
  'x-gitlab-': 'GitLab',
  'x-gitea-': 'Gitea',
  'x-forgejo-': 'Forgejo',
  'x-gerrit-': 'Gerrit',
  'x-jira-': 'Jira',
  'x-atlassian-': 'Atlassian',
  'x-phabricator-': 'Phabricator',
  'x-redmine-': 'Redmine',
  'x-openproject-': 'OpenProject',
  'x-bugzilla-': 'Bugzilla',
  'x-trac-': 'Trac',
  'x-launchpad-': 'Launchpad',
  'x-sourcehut-': 'SourceHut',
  'x-debian-pr-': 'the Debian bug tracker',
  'x-patchwork-': 'Patchwork',
  'x-mantis': 'MantisBT',
  'x-youtrack-': 'YouTrack',
  'x-discourse-': 'Discourse',
  'x-zulip-': 'Zulip',
  'x-asana-': 'Asana',
  'x-trello-': 'Trello',
  'x-sentry-': 'Sentry',
  'x-jenkins-': 'Jenkins',
  'x-weblate-': 'Weblate',
  'x-nextcloud-': 'Nextcloud',
  'x-zammad-': 'Zammad',
  'x-rt-': 'Request Tracker',
  'rt-ticket': 'Request Tracker',
  'x-otrs-': 'OTRS',
  'x-zendesk-': 'Zendesk',
  'x-course-': 'Moodle',
};
const PREFIXES = Object.keys(PROGRAMS);

/** The reason why a message is a notification; null if it is none. Anyone can add these fields, so the content counts too. */
export function notification(mail: MailFacts): string | null {
  const { headers } = mail.message;
  if (headers.some(isCampaignField)) return null;
  const isAutomatic =
    mail.autoSubmitted.startsWith('auto-') || hasField(mail, 'x-auto-response-suppress');
  const [inSubject] = findPhrases(ACTIONS, mail.subject, 1);
  const [inOpening] = findPhrases(ACTIONS, mail.opening, 1);
  const action = inSubject ?? (isAutomatic ? inOpening : undefined);
  // These programs also name the conversation or the project, such as "[Bug 7]".
  const isPlaced =
    isAutomatic ||
    isInThread(mail.message) ||
    hasField(mail, 'list-id') ||
    mail.message.subject?.startsWith('[');
  if (isPlaced || inSubject || inOpening)
    for (const { key } of headers) {
      const prefix = PREFIXES.find((start) => key.startsWith(start));
      if (prefix)
        return `It is a notification from ${PROGRAMS[prefix]} about what somebody did there.`;
    }
  if (action !== undefined) return `It is a notification about what somebody did (“${action}”).`;
  if (isInThread(mail.message))
    return isAutomatic || hasField(mail, 'list-id')
      ? 'It is a notification that belongs to a conversation (In-Reply-To).'
      : null;
  return mail.autoSubmitted.startsWith('auto-')
    ? 'A program sent it automatically (Auto-Submitted).'
    : null;
}
