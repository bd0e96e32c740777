/** `feedback`: reads reports of receivers, and sends them to a service. */

import { defineCommand, EXIT, printMessage, UsageError } from '../command.ts';
import { feedbackFiles } from './files.ts';
import { imapMessages, readLocation } from './imap.ts';
import { importFiles } from './import.ts';
import { parseFiles } from './parse.ts';

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
      value: 'URL',
      description:
        'With import: a mailbox instead of files, such as imaps://user:password@host/Folder. It is not changed',
      actions: ['import'],
    },
    after: {
      value: 'UID',
      description: 'With --imap: skip messages up to this UID',
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
      return importFiles(feedbackFiles(positionals, io), { ...options, source: 'upload' }, io);
    }
    if (positionals.length > 0) throw new UsageError('--imap takes no files');
    let last = readUid(values.after);
    const messages = imapMessages(readLocation(values.imap), last, (uid) => {
      last = uid;
    });
    const code = await importFiles(messages, { ...options, source: 'imap' }, io);
    if (code === EXIT.externalFailure && last > 0)
      printMessage(io, `Messages up to UID ${last} were sent. To skip them, add --after ${last}.`);
    return code;
  },
});

function readUid(text = '0'): number {
  if (!/^\d{1,10}$/.test(text)) throw new UsageError('--after must be a UID, which is a number');
  return Number(text);
}
