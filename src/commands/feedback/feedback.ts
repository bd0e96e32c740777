/** `feedback`: reads reports of receivers, and sends them to a service. */

import type { ReadItem } from '../../feedback/reading/report.ts';
import { createFeedbackReader } from '../../feedback/thread/reader.ts';
import { systemClock } from '../../lib/clock.ts';
import { printableJson, silentLog } from '../../lib/log.ts';
import { zoneResolver } from '../../net/dns/zone.ts';
import { defineCommand, EXIT, type Io, printMessage, UsageError } from '../command.ts';
import { feedbackFiles } from './files.ts';
import { importFiles, readTarget } from './import.ts';
import { importMailbox } from './mailbox.ts';
import { itemText } from './text.ts';

const PATH = { name: 'PATH', completion: 'file', isRepeatable: true } as const;

export const feedback = defineCommand({
  name: 'feedback',
  summary: 'Read DMARC and TLS reports, complaints and bounces, or send them to a service',
  arguments: [
    {
      ...PATH,
      description:
        'A file of any container, a message, an mbox file, a folder, or - for standard input; repeatable',
    },
  ],
  actions: {
    parse: {
      arguments: [PATH],
      description: 'Read reports and print them, without a database or a service',
    },
    import: {
      arguments: [{ ...PATH, isOptional: true }],
      description: 'Send reports to a service, with an API key in DELIVERABILITY_API_KEY',
    },
  },
  options: {
    json: { description: 'Print one JSON object on each line' },
    imap: {
      value: 'MAILBOX',
      description:
        'With import: the mailbox that the service reads, by its name or as imaps://user:password@host/Folder',
      actions: ['import'],
    },
    folder: {
      value: 'FOLDER',
      description: 'With --imap: the folder of the mailbox (default: INBOX)',
      actions: ['import'],
    },
    url: {
      value: 'URL',
      description: 'With import: the service (default: DELIVERABILITY_BASE_URL)',
      actions: ['import'],
    },
  },
  exitCodes:
    '0 all reports were read, 1 a report was refused, 2 invalid option or file, 3 the service or the mailbox failed',
  async run({ action, values, positionals }, io) {
    const json = values.json ?? false;
    if (action === 'parse') return parseFiles(positionals, { json }, io);
    const options = { url: values.url, json };
    if (values.imap === undefined) {
      if (positionals.length === 0) throw new UsageError('Missing argument: PATH');
      return importFiles(
        feedbackFiles(positionals, io),
        { ...options, source: 'upload', paths: positionals },
        io,
      );
    }
    if (positionals.length > 0) throw new UsageError('--imap takes no files');
    return importMailbox(
      readTarget(values.url, io),
      { mailbox: values.imap, folder: values.folder, json },
      io,
    );
  },
});

const refusal = (detail: string): ReadItem => ({
  ok: false,
  reason: 'not_a_report',
  detail,
  type: null,
});

/** Exits with 1 if any file is refused. */
async function parseFiles(paths: string[], { json }: { json: boolean }, io: Io): Promise<number> {
  const now = systemClock.now();
  let refused = 0;
  let files = 0;
  // In a thread, a hostile file ends within the limits of the service.
  const reader = createFeedbackReader({ resolver: zoneResolver({}), log: silentLog });
  for await (const { name, bytes, problem } of feedbackFiles(paths, io)) {
    files += 1;
    const items: ReadItem[] =
      problem === null ? await reader.parse(bytes, now) : [refusal(problem)];
    for (const item of items) {
      if (!item.ok) refused += 1;
      if (json) io.stdout(`${printableJson({ file: name, ...item })}\n`);
      else io.stdout(itemText(name, item, { width: io.width, color: io.useColor }));
    }
  }
  await reader.end();
  if (files === 0) printMessage(io, 'There are no files.');
  return files === 0 ? EXIT.usage : refused > 0 ? EXIT.negative : EXIT.success;
}
