/** The operations on report mailboxes. */

import { resource } from '../../http/resource.ts';
import { type AnyCall, route } from '../../http/route.ts';
import type { Tx } from '../../store/open.ts';
import type { ReportMailboxRow } from '../../store/tables.generated.ts';
import type { Author } from '../../team/audit.ts';
import {
  NewReportMailbox,
  ReportMailbox,
  ReportMailboxListQuery,
  ReportMailboxPatch,
} from './schema.ts';
import {
  cancelImport,
  changeMailbox,
  createMailbox,
  deleteMailbox,
  listMailboxes,
  mailboxOr404,
  presentMailbox,
  startImport,
} from './stored.ts';

const PATH = '/v1/feedback/mailboxes';

const mailboxes = resource({
  type: 'report_mailbox',
  prefix: 'fbx',
  path: PATH,
  name: 'ReportMailbox',
  noun: 'report mailbox',
  roles: { read: 'member', change: 'admin' },
  response: ReportMailbox,
  // The password is not in responses, so the ETag does not cover it.
  etag: ({ import: _, problem, next_import_at, trusted_servers, ...settings }) => settings,
  find: mailboxOr404,
  present: (rows, { app }) => rows.map((row) => presentMailbox(app, row)),
});

const create = mailboxes.create({
  summary: 'Add a report mailbox',
  description: 'Adds a mailbox with reports of receivers. The first import starts at once.',
  body: NewReportMailbox,
  errors: ['conflict'],
  work: createMailbox,
});

const list = mailboxes.list({
  operation: 'listReportMailboxes',
  summary: 'List report mailboxes',
  description:
    'Returns the mailboxes from which reports are imported, newest first, each with its latest import.',
  query: ReportMailboxListQuery,
  rows: listMailboxes,
});

const get = mailboxes.get({
  description: 'Returns a report mailbox with its latest import and the progress of the import.',
});

const update = mailboxes.update({
  description:
    'Changes a report mailbox. If you change `sign_in`, `host`, `username`, `folder` or `authserv_id`, the service reads all messages again. If you change `host` or `port`, enter the password again. If you change any of these, `port`, `tls`, the password or `move_to`, an import starts at once.',
  body: ReportMailboxPatch,
  errors: ['conflict'],
  work: changeMailbox,
});

const remove = mailboxes.remove({
  description: 'Deletes a report mailbox and its password. Imported reports stay.',
  work: deleteMailbox,
});

type Request = Author & Pick<AnyCall, 'app' | 'params'>;
type Work = (tx: Tx, call: Request, row: ReportMailboxRow) => Promise<ReportMailboxRow>;

const change = async (tx: Tx, call: Request, work: Work): Promise<ReportMailbox> =>
  presentMailbox(call.app, await work(tx, call, await mailboxOr404(tx, call.params.id!)));

const start = route({
  method: 'POST',
  path: `${PATH}/:id/import`,
  params: mailboxes.params,
  operation: 'startReportMailboxImport',
  role: 'member',
  summary: 'Import now',
  description:
    'Imports the messages that arrived since the last import, or resumes an import that failed. Get the mailbox again to see the progress.',
  response: ReportMailbox,
  handle: (call) => call.transact((tx) => change(tx, call, startImport)),
});

const cancel = route({
  method: 'POST',
  path: `${PATH}/:id/cancel`,
  params: mailboxes.params,
  operation: 'cancelReportMailboxImport',
  role: 'member',
  summary: 'Cancel an import',
  description:
    'Cancels an import before its next message. Imported reports stay, and the next import continues after the last message.',
  response: ReportMailbox,
  errors: ['conflict'],
  handle: (call) => call.transact((tx) => change(tx, call, cancelImport)),
});

export const mailboxOperations = { create, list, get, update, remove, start, cancel };
