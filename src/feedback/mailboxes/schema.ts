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
} from '../../http/schemas.ts';
import { REFUSAL_REASONS, type RefusalReason } from '../reading/report.ts';
import { REPORT_STATUSES } from '../status.ts';

export const SCHEDULES = ['off', 'hourly', 'daily'] as const;
export type Schedule = (typeof SCHEDULES)[number];

export const IMPORT_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

const Line = v.pipe(lineOfText(255), v.trim());
/** As long as the names of folders in `net/imap`. */
const Folder = v.pipe(lineOfText(1000), v.trim());
/** Not empty, and without a dot at the beginning: both have a meaning in `TrustedServers`. */
const ServerName = v.pipe(
  Line,
  v.regex(/^[^\s;=()".][^\s;=()"]*$/, 'must be the name of a server, such as mx.example.com'),
);
const Port = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be at least 1'),
  v.maxValue(65_535, 'must be at most 65535'),
);

const SETTINGS = {
  name: described(Name, 'Your name for the mailbox.', 'DMARC reports'),
  sign_in: described(
    v.nullable(Line),
    'The name of a configured seed mailbox whose sign-in is used, instead of a server and a password.',
    'reports@example.com',
  ),
  host: described(v.nullable(Line), 'The IMAP server.', 'imap.example.com'),
  port: described(v.nullable(Port), 'Default: 993, or 143 with `starttls`.', 993),
  tls: described(
    v.nullable(oneOf(['implicit', 'starttls'])),
    'How the connection is encrypted. Default: `implicit`.',
    'implicit',
  ),
  username: described(v.nullable(Line), 'Whom to sign in as.', 'dmarc@example.com'),
  authserv_id: described(
    v.nullable(ServerName),
    'The name that your own server writes at the beginning of its Authentication-Results fields. The server must remove fields with this name from what it receives. Names of known providers are built in.',
    'mx.example.com',
  ),
  folder: described(Folder, 'The folder that is read. Default: `INBOX`.', 'INBOX'),
  move_to: described(
    v.nullable(Folder),
    'Messages with a report move to this folder once they are read. Null leaves them where they are, unread ones too.',
    'Imported',
  ),
  schedule: described(
    oneOf(SCHEDULES),
    'How often new messages are imported. `off`: only when you start it.',
    'daily',
  ),
};

const Password = described(
  v.pipe(v.string('must be text'), v.minLength(1, 'is required'), v.maxLength(1000, 'is too long')),
  'The password, or an app password. It is encrypted and never returned.',
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
  'The changes to a report mailbox. Omitted fields keep their value.',
  { schedule: 'hourly' },
);
export type ReportMailboxPatch = v.InferOutput<typeof ReportMailboxPatch>;

const REASONS = Object.keys(REFUSAL_REASONS) as RefusalReason[];
const Reports = described(Count, 'How many there were.', 3);

const ReportCount = named(
  'ReportMailboxReports',
  v.object({
    status: described(v.picklist(REPORT_STATUSES), 'As in the list of reports.', 'counted'),
    count: Reports,
  }),
  'The reports of a status.',
);

const RefusalCount = named(
  'ReportMailboxRefusals',
  v.object({
    reason: described(v.picklist(REASONS), 'As in the list of reports.', 'foreign_domain'),
    count: Reports,
  }),
  'What was refused for a reason.',
);

export const MailboxImport = named(
  'ReportMailboxImport',
  v.object({
    status: described(
      v.picklist(IMPORT_STATUSES),
      '`failed`: see `problem`. It goes on at `next_import_at`, if there is one.',
      'completed',
    ),
    started_at: described(v.nullable(Time), 'When it began.'),
    finished_at: described(v.nullable(Time), 'When it ended.'),
    read: described(Count, 'The messages that were read.', 412),
    remaining: described(Count, 'The messages that are still to be read.', 0),
    moved: described(Count, 'The messages that were moved.', 0),
    reports: described(v.array(ReportCount), 'The reports that were found, by status.', [
      { status: 'counted', count: 398 },
    ]),
    refused: described(v.array(RefusalCount), 'What could not be accepted, by reason.', [
      { reason: 'foreign_domain', count: 3 },
    ]),
    not_reports: described(
      Count,
      'The messages without a report. Nothing of them is stored, and they stay where they are.',
      11,
    ),
    undecided: described(
      Count,
      'The messages whose signatures could not be verified yet, because DNS did not answer. They are read again later.',
      0,
    ),
  }),
  'The newest import from a report mailbox.',
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
      'The servers whose Authentication-Results show who sent a report. If it is empty, only DKIM signatures that still verify do.',
      ['google.com'],
    ),
    import: described(MailboxImport, 'The newest import.'),
    problem: described(Text, 'Why the newest import failed, and what to do.', null),
    next_import_at: described(
      v.nullable(Time),
      'When the next import begins, or this one goes on.',
    ),
    created_at: Time,
  }),
  'A mailbox from which reports are imported, without its password.',
  { sign_in: null, move_to: null },
);
export type ReportMailbox = v.InferOutput<typeof ReportMailbox>;

export const ReportMailboxListQuery = v.strictObject(PAGE_QUERY);
