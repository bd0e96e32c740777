/** API schemas of report mailboxes. */

import * as v from 'valibot';
import {
  Count,
  described,
  idOf,
  lineOfText,
  Name,
  named,
  oneOf,
  PAGE_QUERY,
  Text,
  Time,
  typeField,
  wholeNumber,
} from '../../http/schemas.ts';
import { REFUSAL_REASONS, type RefusalReason } from '../reading/report.ts';
import { REPORT_STATUSES } from '../status.ts';

export const SCHEDULES = ['off', 'hourly', 'daily'] as const;
export type Schedule = (typeof SCHEDULES)[number];

const IMPORT_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

const Line = v.pipe(lineOfText(255), v.trim());
/** The same limit as in `net/imap`. */
const Folder = v.pipe(lineOfText(1000), v.trim());
/** Not empty, and without a dot at the beginning: both have a meaning in `TrustedServers`. */
const ServerName = v.pipe(
  Line,
  v.regex(/^[^\s;=()".][^\s;=()"]*$/, 'must be the name of a server, such as mx.example.com'),
);
const Port = wholeNumber(1, 65_535);

const SETTINGS = {
  name: described(Name, 'Your name for the mailbox.', 'DMARC reports'),
  sign_in: described(
    v.nullable(Line),
    'The name of a configured seed mailbox whose sign-in is used instead of a server and a password.',
    'reports@example.com',
  ),
  host: described(v.nullable(Line), 'The IMAP server.', 'imap.example.com'),
  port: described(v.nullable(Port), 'Default: 993, or 143 with `starttls`.', 993),
  tls: described(
    v.nullable(oneOf(['implicit', 'starttls'])),
    'How the connection is encrypted. Default: `implicit`.',
    'implicit',
  ),
  username: described(v.nullable(Line), 'The user name for the IMAP server.', 'dmarc@example.com'),
  authserv_id: described(
    v.nullable(ServerName),
    'The authserv-id of your own mail server, which is at the beginning of its Authentication-Results fields. The server must remove fields with this authserv-id from mail that it receives. Known providers are built in.',
    'mx.example.com',
  ),
  folder: described(Folder, 'The folder to read. Default: `INBOX`.', 'INBOX'),
  move_to: described(
    v.nullable(Folder),
    'The folder to which messages with a report move after they are read. If null, they stay where they are, and unread messages stay unread.',
    'Imported',
  ),
  schedule: described(
    oneOf(SCHEDULES),
    'How often new messages are imported. `off`: only when you start an import.',
    'daily',
  ),
};

const Password = described(
  v.pipe(v.string('must be text'), v.minLength(1, 'is required'), v.maxLength(1000, 'is too long')),
  'The password, or an app password. It is encrypted and never returned. Another `host` needs it again.',
  'app password',
);

export const NewReportMailbox = named(
  'CreateReportMailbox',
  v.strictObject({
    ...v.partial(v.strictObject(SETTINGS)).entries,
    name: SETTINGS.name,
    password: v.optional(Password),
  }),
  'A mailbox to import from. Set either `sign_in`, or `host`, `username` and `password`.',
  {
    name: 'DMARC reports',
    host: 'imap.example.com',
    username: 'dmarc@example.com',
    password: 'app password',
    schedule: 'daily',
  },
);
export type NewReportMailbox = v.InferOutput<typeof NewReportMailbox>;

export const ReportMailboxPatch = named(
  'UpdateReportMailbox',
  v.strictObject({
    ...v.partial(v.strictObject(SETTINGS)).entries,
    password: v.optional(Password),
  }),
  'Changes to a report mailbox. Omitted fields keep their value.',
  { schedule: 'hourly' },
);
export type ReportMailboxPatch = v.InferOutput<typeof ReportMailboxPatch>;

const REASONS = Object.keys(REFUSAL_REASONS) as RefusalReason[];
const Reports = described(Count, 'The number of reports.', 3);

const ReportCount = named(
  'ReportMailboxReports',
  v.object({
    status: described(
      v.picklist(REPORT_STATUSES),
      'The status, as in the list of reports.',
      'counted',
    ),
    count: Reports,
  }),
  'The number of reports with a status.',
);

const RefusalCount = named(
  'ReportMailboxRefusals',
  v.object({
    reason: described(
      v.picklist(REASONS),
      'The reason, as in the list of reports.',
      'foreign_domain',
    ),
    count: Reports,
  }),
  'The number of reports that were refused for a reason.',
);

export const MailboxImport = named(
  'ReportMailboxImport',
  v.object({
    status: described(
      v.picklist(IMPORT_STATUSES),
      '`failed`: see `problem`. The import resumes at `next_import_at`, unless it is null.',
      'completed',
    ),
    started_at: described(v.nullable(Time), 'When the import started.'),
    finished_at: described(v.nullable(Time), 'When the import ended.'),
    read: described(Count, 'Messages that were read.', 412),
    remaining: described(Count, 'Messages that are not read yet.', 0),
    moved: described(Count, 'Messages that were moved to `move_to`.', 0),
    reports: described(v.array(ReportCount), 'Reports in these messages, by status.', [
      { status: 'counted', count: 398 },
    ]),
    refused: described(v.array(RefusalCount), 'Refused reports and skipped messages, by reason.', [
      { reason: 'foreign_domain', count: 3 },
    ]),
    not_reports: described(
      Count,
      'Messages without a report. They are neither stored nor moved.',
      11,
    ),
    undecided: described(
      Count,
      'Messages whose signatures are not verified yet, because DNS did not respond. The service retries later.',
      0,
    ),
  }),
  'The latest import from a report mailbox.',
  {},
);

export const ReportMailbox = named(
  'ReportMailbox',
  v.object({
    id: idOf('fbx'),
    object: typeField('report_mailbox'),
    ...SETTINGS,
    name: described(v.string(), 'Your name for the mailbox.', 'DMARC reports'),
    trusted_servers: described(
      v.array(v.string()),
      'The servers whose Authentication-Results fields are trusted to show who sent a report. If empty, only DKIM signatures that still verify count.',
      ['google.com'],
    ),
    import: described(MailboxImport, 'The latest import.'),
    problem: described(Text, 'Why the latest import failed, and what to do.', null),
    next_import_at: described(
      v.nullable(Time),
      'When the next import starts, or this one resumes. Null if nothing is scheduled.',
    ),
    created_at: Time,
  }),
  'A mailbox from which reports are imported, without its password.',
  { sign_in: null, move_to: null },
);
export type ReportMailbox = v.InferOutput<typeof ReportMailbox>;

export const ReportMailboxListQuery = v.strictObject(PAGE_QUERY);
