/** The mailboxes from which reports are imported, and the form for a new one. */

import type { App } from '../../app.ts';
import { mailboxOperations } from '../../feedback/mailboxes/routes.ts';
import type { ReportMailbox } from '../../feedback/mailboxes/schema.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { StateMark } from '../../ui/components.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import type { FormProblem } from '../frame/form.tsx';
import { listPage } from '../frame/list-page.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { EmptyState, Waiting } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago, Due } from '../frame/times.tsx';
import { FEEDBACK } from './list.tsx';
import {
  bodyOf,
  MAILBOX_LABELS,
  MailboxForm,
  type MailboxValues,
  NEW_MAILBOX,
  readMailboxForm,
} from './mailbox-form.tsx';
import { FeedbackTabs } from './tabs.tsx';

export const MAILBOXES = `${FEEDBACK}/mailboxes`;
export const MAILBOX_PARENTS = [
  { href: FEEDBACK, text: 'Feedback' },
  { href: MAILBOXES, text: 'Mailboxes' },
];

/** Seed mailboxes that can be read over IMAP. */
export const signInsOf = ({ config }: Pick<App, 'config'>): string[] =>
  config.SEED_MAILBOXES.flatMap(({ name, imap }) => (imap ? [name] : []));

export function ImportState({ mailbox }: { mailbox: Pick<ReportMailbox, 'import'> }) {
  const { status } = mailbox.import;
  if (status === 'completed') return <StateMark state="pass" word="Imported" />;
  if (status === 'failed') return <StateMark state="fail" word="Failed" />;
  if (status === 'cancelled') return <StateMark state="unknown" word="Cancelled" />;
  return <Waiting>{status === 'queued' ? 'Queued' : 'Importing'}</Waiting>;
}

const show = listPage({
  path: MAILBOXES,
  operation: 'showReportMailboxes',
  summary: 'Show the mailboxes from which reports are imported',
  title: 'Report mailboxes',
  section: 'feedback',
  route: mailboxOperations.list,
  done: { deleted: 'Mailbox deleted. Imported reports stay.' },
  content: (mailboxes) => ({
    actions: mailboxes.length > 0 && <AddMailbox />,
    before: <FeedbackTabs current="mailboxes" />,
    list:
      mailboxes.length === 0 ? (
        <EmptyState title="No report mailboxes yet" action={<AddMailbox />}>
          If reports already arrive in a mailbox, the service can import them from there, once or on
          a schedule. It does not change the mailbox, and stores no other messages.
        </EmptyState>
      ) : (
        <MailboxTable mailboxes={mailboxes} />
      ),
  }),
});

const AddMailbox = () => (
  <For role="admin">
    <a class="button primary" href={`${MAILBOXES}/new`}>
      Add mailbox
    </a>
  </For>
);

const MailboxTable = ({ mailboxes }: { mailboxes: ReportMailbox[] }) => (
  <DataTable
    label="Report mailboxes"
    rows={mailboxes}
    keyOf={({ id }) => id}
    hrefOf={({ id }) => `${MAILBOXES}/${id}`}
    columns={[
      { title: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
      { title: 'Latest import', cell: (mailbox) => <ImportState mailbox={mailbox} /> },
      {
        title: 'Messages',
        number: true,
        cell: ({ import: { read } }) => formatCount(read),
      },
      {
        title: 'Finished',
        wide: true,
        cell: ({ import: { finished_at } }) => finished_at && <Ago at={finished_at} />,
      },
      {
        title: 'Next',
        wide: true,
        cell: ({ next_import_at, import: { status } }) =>
          next_import_at && status !== 'running' && <Due at={next_import_at} />,
      },
    ]}
  />
);

// The form for a new mailbox.

const renderNew = (
  call: PageCall,
  values: MailboxValues = NEW_MAILBOX,
  problem: FormProblem | null = null,
) =>
  appPage(call, {
    title: 'New report mailbox',
    section: 'feedback',
    path: `${MAILBOXES}/new`,
    parents: MAILBOX_PARENTS,
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: mailboxOperations.create, body: EXAMPLE }],
    children: (
      <Card>
        <MailboxForm
          action={MAILBOXES}
          values={values}
          problem={problem}
          submit="Add and import"
          signIns={signInsOf(call.app)}
        />
      </Card>
    ),
  });

const EXAMPLE = {
  name: 'DMARC reports',
  host: 'imap.example.com',
  username: 'dmarc@example.com',
  password: 'app password',
};

const showNew = page({
  path: `${MAILBOXES}/new`,
  operation: 'showNewReportMailbox',
  role: 'admin',
  summary: 'Show the form for a new report mailbox',
  handle: (call) => renderNew(call),
});

const create = operationForm({
  path: MAILBOXES,
  operation: 'submitReportMailbox',
  summary: 'Add a report mailbox with the form, and import from it',
  route: mailboxOperations.create,
  read: readMailboxForm,
  body: bodyOf,
  labels: MAILBOX_LABELS,
  next: ({ id }) => `${MAILBOXES}/${id}?done=added`,
  onProblem: (call, problem, values) => renderNew(call, values, problem),
});

export const mailboxListPages = [show, showNew, create];
