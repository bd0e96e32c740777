/** What the audit log has of feedback. */

import { audited } from '../store/audited.ts';

export const AUDITED_REPORT = audited({
  type: 'feedback_report',
  name: 'Feedback report',
  actions: ['feedback_report.deleted'],
});

export const AUDITED_SOURCE = audited({
  type: 'feedback_source',
  name: 'Sending source',
  actions: ['feedback_source.updated'],
});

export const AUDITED_REPORTER = audited({
  type: 'feedback_reporter',
  name: 'Reporter',
  actions: ['feedback_reporter.confirmed', 'feedback_reporter.withdrawn'],
  texts: { 'feedback_reporter.withdrawn': 'Reporter confirmation withdrawn' },
});
