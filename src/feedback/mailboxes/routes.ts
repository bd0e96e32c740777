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
  description: 'Adds a mailbox with reports of receivers. Its first import begins at once.',
  body: NewReportMailbox,
  errors: ['conflict'],
  work: createMailbox,
});

const list = mailboxes.list({
  operation: 'listReportMailboxes',
  summary: 'List report mailboxes',
  description:
    'Returns the mailboxes from which reports are imported, newest first, each with its newest import.',
  query: ReportMailboxListQuery,
  rows: listMailboxes,
});

const get = mailboxes.get({
  description: 'Returns a report mailbox with its newest import, which shows the progress.',
});

const update = mailboxes.update({
  description:
    'Changes a report mailbox. After a change of the server, the user, the folder or the trusted server, all of its messages are read. Another server or port needs the password again. After a change of the password or the target folder, an import begins at once.',
  body: ReportMailboxPatch,
  errors: ['conflict'],
  work: changeMailbox,
});

const remove = mailboxes.remove({
  description: 'Deletes a report mailbox and its password. What was imported stays.',
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
    'Imports the messages that arrived since the last import, or goes on with one that failed. Read the mailbox again to see the progress.',
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
    'Ends an import before its next message. What was imported stays, and the next import goes on after it.',
  response: ReportMailbox,
  errors: ['conflict'],
  handle: (call) => call.transact((tx) => change(tx, call, cancelImport)),
});

export const mailboxOperations = { create, list, get, update, remove, start, cancel };
