/** What the audit log has of tests and inboxes. */

import { audited, rowsInModeOf } from '../store/audited.ts';

export const AUDITED_TEST = audited({
  type: 'test',
  name: 'Test',
  actions: ['test.images_loaded', 'test.images_deleted', 'test.unsubscribe_tried', 'test.deleted'],
  texts: { 'test.unsubscribe_tried': 'Unsubscribe link of a test tried' },
  page: (id) => `/tests/${id}`,
  withPage: rowsInModeOf('tests'),
});

export const AUDITED_INBOX = audited({
  type: 'inbox',
  name: 'Inbox',
  actions: ['inbox.created', 'inbox.deleted'],
  page: (id) => `/inboxes/${id}`,
  withPage: rowsInModeOf('inboxes'),
});
