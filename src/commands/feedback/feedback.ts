/** `feedback`: reads reports of receivers, and sends them to a service. */

import { type Command, EXIT, printMessage, readArguments, UsageError } from '../command.ts';
import { feedbackFiles } from './files.ts';
import { imapMessages, readLocation } from './imap.ts';
import { importFiles } from './import.ts';
import { parseFiles } from './parse.ts';

const OPTIONS = {
  json: { type: 'boolean' },
  imap: { type: 'string' },
  after: { type: 'string' },
  url: { type: 'string' },
} as const;

export const feedback: Command = {
  name: 'feedback',
  usage: 'parse|import PATH… [--json] …',
  summary: 'Read DMARC and TLS reports, complaints and bounces, or send them to a service',
  options: [
    'parse PATH…     Read reports and print them, without a database or a service',
    'import PATH…    Send reports to a service, with an API key in DELIVERABILITY_API_KEY',
    'PATH            A file of any container, a message, an mbox file, a folder, or - for standard input; repeatable',
    '--json          Print one JSON object on each line',
    '--imap URL      With import: a mailbox instead of files, such as imaps://user:password@host/Folder. It is not changed',
    '--after UID     With --imap: skip messages up to this UID',
    '--url URL       With import: the service (default: DELIVERABILITY_BASE_URL)',
    'Exit codes:  0 all reports were read, 1 a report was refused, 2 invalid option or file, 3 the service or the mailbox failed',
  ],
  async run([action, ...args], io) {
    if (action !== 'parse' && action !== 'import')
      throw new UsageError('feedback needs parse or import, and then the files');
    const { values, positionals } = readArguments(args, OPTIONS, {
      min: namesMailbox(args) ? 0 : 1,
      max: 10_000,
      argumentName: 'PATH',
    });
    const json = values.json ?? false;
    if (action === 'parse') {
      if (values.imap !== undefined || values.url !== undefined)
        throw new UsageError('--imap and --url are only for import');
      return parseFiles(positionals, { json }, io);
    }
    const options = { url: values.url, json };
    if (values.imap === undefined)
      return importFiles(feedbackFiles(positionals, io), { ...options, source: 'upload' }, io);
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
};

const namesMailbox = (args: string[]): boolean =>
  args.some((argument) => argument === '--imap' || argument.startsWith('--imap='));

function readUid(text = '0'): number {
  if (!/^\d{1,10}$/.test(text)) throw new UsageError('--after must be a UID, which is a number');
  return Number(text);
}
