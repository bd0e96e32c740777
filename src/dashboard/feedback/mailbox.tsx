/** The page of a report mailbox: the latest import with its progress, and the settings. */

import { mailboxOperations } from '../../feedback/mailboxes/routes.ts';
import type { ReportMailbox } from '../../feedback/mailboxes/schema.ts';
import { REFUSAL_REASONS } from '../../feedback/reading/report.ts';
import { STATUSES } from '../../feedback/status.ts';
import { allows } from '../../http/actor.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { type FormProblem, Notice, PageQuery, ProblemNotice } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { Ago, Due } from '../frame/times.tsx';
import { versionOf } from '../frame/version.tsx';
import { REPORTS } from './list.tsx';
import {
  bodyOf,
  MAILBOX_LABELS,
  MailboxForm,
  type MailboxValues,
  readMailboxForm,
  valuesOf,
} from './mailbox-form.tsx';
import { ImportState, MAILBOX_PARENTS, MAILBOXES, signInsOf } from './mailboxes.tsx';

const DONE: Record<string, string> = {
  added: 'Mailbox added. The first import begins now.',
  saved: 'Changes saved.',
};

interface State {
  done?: string;
  /** What was typed. */
  values?: MailboxValues;
  problem?: FormProblem | null;
  /** A problem with a button rather than with the form. */
  actionProblem?: FormProblem | null;
}

async function render(call: PageCall, id: string, state: State = {}) {
  const { done = '', problem = null, actionProblem = null } = state;
  const params = { id };
  const mailbox = await call.invoke(mailboxOperations.get, { params });
  const failure = problem ?? actionProblem;
  const path = `${MAILBOXES}/${id}`;
  const isActive = ['queued', 'running'].includes(mailbox.import.status);
  return appPage(call, {
    title: mailbox.name,
    section: 'feedback',
    path,
    parents: MAILBOX_PARENTS,
    status: failure?.status,
    headers: failure?.headers,
    calls: [
      { route: mailboxOperations.get, params },
      { route: mailboxOperations.start, params },
    ],
    children: (
      <>
        {Object.hasOwn(DONE, done) && <Notice tone="pass">{DONE[done]}</Notice>}
        <ProblemNotice problem={actionProblem} />
        <Import mailbox={mailbox} isActive={isActive} />
        {allows(call.actor.role, 'admin') && (
          <>
            <Card title="Settings" id="settings">
              <MailboxForm
                action={path}
                values={state.values ?? valuesOf(mailbox)}
                problem={problem}
                submit="Save changes"
                signIns={signInsOf(call.app)}
                isStored={mailbox.sign_in === null}
                version={versionOf(mailboxOperations.get, mailbox)}
              />
            </Card>
            <Card title="Delete this mailbox" id="deletion">
              <Confirm
                action={`${path}/delete`}
                label="Delete…"
                warning="The service deletes the password and stops importing. Imported reports stay."
                confirm="Delete mailbox"
              />
            </Card>
          </>
        )}
      </>
    ),
  });
}

function Import({ mailbox, isActive }: { mailbox: ReportMailbox; isActive: boolean }) {
  const { import: result, problem, next_import_at, trusted_servers } = mailbox;
  const { read, remaining, moved, reports, refused, not_reports, undecided } = result;
  const count = (number: number) => (number > 0 ? formatCount(number) : null);
  const path = `${MAILBOXES}/${mailbox.id}`;
  return (
    <div id="import" data-refresh={isActive ? 'yes' : undefined} data-status={result.status}>
      <Card
        title="Latest import"
        id="latest"
        actions={
          isActive ? (
            <ActionButton action={`${path}/cancel`}>Cancel import</ActionButton>
          ) : (
            <ActionButton action={`${path}/import`} primary>
              Import now
            </ActionButton>
          )
        }
      >
        {problem !== null && (
          <Notice tone="fail">
            <bdi>{problem}</bdi>
            {next_import_at && (
              <>
                {' The import resumes '}
                <Due at={next_import_at} />.
              </>
            )}
          </Notice>
        )}
        {isActive && read + remaining > 0 && (
          <progress max={read + remaining} value={read} aria-label="Messages read" />
        )}
        <Facts
          items={[
            ['State', <ImportState key="state" mailbox={mailbox} />],
            ['Folder', <bdi key="folder">{mailbox.folder}</bdi>],
            [
              'Messages read',
              remaining > 0
                ? `${formatCount(read)} of ${formatCount(read + remaining)}`
                : formatCount(read),
            ],
            [
              'Reports',
              reports.length === 0 ? null : (
                <ul class="plain" key="reports">
                  {reports.map(({ status, count: number }) => (
                    <li key={status}>
                      <a href={`${REPORTS}?status=${status}`}>
                        {`${formatCount(number)} ${STATUSES[status].word.toLowerCase()}`}
                      </a>
                    </li>
                  ))}
                </ul>
              ),
            ],
            [
              'Refused',
              refused.length === 0 ? null : (
                <ul class="plain" key="refused">
                  {refused.map(({ reason, count: number }) => (
                    <li key={reason}>{`${formatCount(number)}: ${REFUSAL_REASONS[reason]}`}</li>
                  ))}
                </ul>
              ),
            ],
            ['Without a report', count(not_reports)],
            ['Not verified yet', count(undecided)],
            [
              'Moved',
              mailbox.move_to === null ? null : `${formatCount(moved)} to ${mailbox.move_to}`,
            ],
            ['Started', result.started_at && <Ago at={result.started_at} />],
            ['Finished', result.finished_at && <Ago at={result.finished_at} />],
            [
              'Next import',
              isActive || problem !== null ? null : next_import_at ? (
                <Due key="next" at={next_import_at} />
              ) : (
                'When you start it'
              ),
            ],
            [
              'Senders are shown by',
              trusted_servers.length > 0
                ? `Authentication-Results of ${trusted_servers.join(', ')}`
                : 'DKIM signatures, while their keys are published',
            ],
          ]}
        />
      </Card>
    </div>
  );
}

const show = page({
  path: `${MAILBOXES}/:id`,
  operation: 'showReportMailbox',
  role: 'member',
  summary: 'Show a report mailbox with its latest import',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, call.query),
});

const update = operationForm({
  path: `${MAILBOXES}/:id`,
  operation: 'submitReportMailboxChanges',
  summary: 'Change a report mailbox with the form',
  route: mailboxOperations.update,
  read: readMailboxForm,
  body: bodyOf,
  labels: MAILBOX_LABELS,
  next: ({ id }) => `${MAILBOXES}/${id}?done=saved`,
  onProblem: (call, problem, values) => render(call, call.params.id!, { values, problem }),
});

const withActionProblem = (
  call: PageCall & { params: Record<string, string> },
  problem: FormProblem,
) => render(call, call.params.id!, { actionProblem: problem });

const start = operationForm({
  path: `${MAILBOXES}/:id/import`,
  operation: 'submitReportMailboxImport',
  summary: 'Import from a report mailbox with the button',
  route: mailboxOperations.start,
  next: ({ id }) => `${MAILBOXES}/${id}`,
  onProblem: withActionProblem,
});

const cancel = operationForm({
  path: `${MAILBOXES}/:id/cancel`,
  operation: 'submitReportMailboxCancellation',
  summary: 'Cancel an import with the button',
  route: mailboxOperations.cancel,
  next: ({ id }) => `${MAILBOXES}/${id}`,
  onProblem: withActionProblem,
});

const remove = operationForm({
  path: `${MAILBOXES}/:id/delete`,
  operation: 'submitReportMailboxDeletion',
  summary: 'Delete a report mailbox with the button',
  route: mailboxOperations.remove,
  next: () => `${MAILBOXES}?done=deleted`,
  onProblem: withActionProblem,
});

export const mailboxPages = [show, update, start, cancel, remove];
