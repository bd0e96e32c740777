/** `feedback import --imap`: lets the service import from a mailbox, and shows the progress. */

import { setTimeout as pause } from 'node:timers/promises';
import { mailboxOperations } from '../../feedback/mailboxes/routes.ts';
import type { NewReportMailbox, ReportMailbox } from '../../feedback/mailboxes/schema.ts';
import { AppError } from '../../lib/errors.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { printable, printableJson } from '../../lib/log.ts';
import { EXIT, type Io, printMessage, UsageError } from '../command.ts';
import { createServiceInvoke, type ServiceTarget } from '../mcp/service-client.ts';
import { startProgress } from '../progress.ts';

const PASSWORD_VARIABLE = 'DELIVERABILITY_IMAP_PASSWORD';

interface Options {
  /** A name, a URL, or `user@host`. */
  mailbox: string;
  folder: string | undefined;
  json: boolean;
}

const POLL_MS = 1000;

/**
 * Starts an import from a mailbox. A connection that the service does not know becomes a new report mailbox. Exits with 1 if any
 * report is refused, and with 3 if the service or the mailbox fails.
 */
export async function importMailbox(
  target: ServiceTarget,
  { mailbox, folder, json }: Options,
  io: Io,
): Promise<number> {
  const invoke = createServiceInvoke(target, new AbortController().signal);
  const connection = mailbox.includes('://') ? readMailbox(mailbox, folder, io) : null;
  const progress = startProgress(io);
  try {
    const { data } = await invoke(mailboxOperations.list, { query: { limit: '100' } });
    let current = data.find(({ name }) => name === mailbox);
    if (current && folder !== undefined && folder !== current.folder)
      throw new UsageError(`${mailbox} reads the folder ${current.folder}. Leave out --folder`);
    if (!current) {
      const wanted = connection ?? readMailbox(mailbox, folder, io);
      const same = data.find((one) =>
        (['host', 'username', 'folder'] as const).every((field) => one[field] === wanted[field]),
      );
      if (same && wanted.password !== undefined) {
        const { password } = wanted;
        const params = { id: same.id };
        current = await invoke(mailboxOperations.update, { params, body: { password } });
      } else if (!same) {
        current = await invoke(mailboxOperations.create, { body: wanted });
        printMessage(io, printable(`Added the report mailbox ${current.name}.`));
      } else current = same;
    }
    const params = { id: current.id };
    const isWorking = ({ status }: ReportMailbox['import']) =>
      status === 'queued' || status === 'running';
    if (!isWorking(current.import)) current = await invoke(mailboxOperations.start, { params });
    while (isWorking(current.import)) {
      const { read, remaining } = current.import;
      progress.setStatus(`${formatCount(read, 'message')} read, ${remaining} remaining`);
      await pause(POLL_MS);
      current = await invoke(mailboxOperations.get, { params });
    }
    progress.end();
    if (json) io.stdout(`${printableJson(current)}\n`);
    else io.stdout(`${summaryOf(current.import)}\n`);
    if (current.problem !== null)
      printMessage(io, printable(`${current.problem}${resumesAt(current)}`));
    if (current.import.status !== 'completed') return EXIT.externalFailure;
    return current.import.refused.length > 0 ? EXIT.negative : EXIT.success;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    printMessage(io, printable(error.detail));
    return EXIT.externalFailure;
  } finally {
    progress.end();
  }
}

const resumesAt = ({ next_import_at }: ReportMailbox): string =>
  next_import_at === null ? '' : ` The import resumes at ${next_import_at}.`;

/** `412 messages: 398 counted, 3 refused (foreign_domain), 11 without a report.` */
function summaryOf({ read, reports, refused, not_reports, undecided }: ReportMailbox['import']) {
  const parts = [
    ...reports.map(({ status, count }) => `${count} ${status}`),
    ...refused.map(({ reason, count }) => `${count} refused (${reason})`),
    ...(not_reports > 0 ? [`${not_reports} without a report`] : []),
    ...(undecided > 0 ? [`${undecided} not verified yet`] : []),
  ];
  return `${formatCount(read, 'message')}: ${parts.join(', ') || 'nothing new'}.`;
}

/** `imaps://user:password@host/Folder` or `user@host`. Throws a UsageError. */
export function readMailbox(text: string, folder: string | undefined, io: Pick<Io, 'env'>) {
  const isUrl = text.includes('://');
  const at = text.lastIndexOf('@');
  const url = URL.parse(
    isUrl
      ? text
      : `imaps://${encodeURIComponent(text.slice(0, Math.max(at, 0)))}@${text.slice(at + 1)}`,
  );
  if (!url || !/^imaps?:$/.test(url.protocol) || url.username === '' || url.hostname === '')
    throw new UsageError(
      '--imap must be the name of a report mailbox, or a URL such as imaps://user:password@host/Folder',
    );
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const tls = url.protocol === 'imaps:' ? 'implicit' : 'starttls';
  const username = decodeURIComponent(url.username);
  const inFolder = folder ?? (decodeURIComponent(url.pathname.slice(1)) || 'INBOX');
  const password = decodeURIComponent(url.password) || io.env[PASSWORD_VARIABLE] || undefined;
  return {
    name: `${username} on ${host}: ${inFolder}`.slice(0, 200),
    host,
    port: Number(url.port) || (tls === 'implicit' ? 993 : 143),
    tls,
    username,
    folder: inFolder,
    ...(password === undefined ? {} : { password }),
  } satisfies NewReportMailbox;
}
