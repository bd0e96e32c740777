/** The manual page, in the man(7) macros that groff and mandoc read. */

import { PREFIX, readConfig, settingsOf } from '../../config/config.ts';
import { wrap } from '../../report/text.ts';
import { VERSION } from '../../version.ts';
import { EXIT } from '../command.ts';
import { type Declaration, usagesOf } from '../declaration.ts';
import { describedTerms, PURPOSE } from '../help.ts';

const MAX_LINE_LENGTH = 78;

/** A backslash starts an escape, a hyphen is not a minus, and other characters than ASCII need an encoding. */
function escaped(text: string): string {
  const escapes = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\n -~]/gu, (character) => `\\[u${hex(character)}]`);
  // At the beginning of a line, a dot and an apostrophe start a macro.
  return wrap(escapes, MAX_LINE_LENGTH).replace(/^([.'])/gm, '\\&$1');
}

const hex = (character: string): string =>
  character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');

const sentence = (text: string): string => escaped(/[.!?]$/.test(text) ? text : `${text}.`);

/** Markup of the documentation. */
const plain = (text: string): string => text.replaceAll('`', '');

const item = (term: string, text: string): string =>
  `.TP\n.B ${escaped(term)}\n${sentence(text)}\n`;

const example = (purpose: string, command: string): string =>
  `.PP\n${escaped(purpose)}:\n.PP\n.RS\n${escaped(command)}\n.RE\n`;

const DESCRIPTION =
  'A self-hosted email deliverability tester. It receives messages at test addresses, and checks authentication, reverse DNS, TLS, blocklists, headers and content. The report has a score, the evidence for every point lost, and the fix. The same checks run on the command line, without a service.';

/** `date`, in milliseconds since the Unix epoch, stands at the foot of the page. */
export function manPage(commands: Declaration[], date: number): string {
  // The settings of this machine are not part of the page.
  const variables = settingsOf(readConfig({}).config);
  const day = new Date(date).toISOString().slice(0, 10);
  return `.TH DELIVERABILITY 1 ${day} "deliverability ${VERSION}" "User Commands"
.ad l
.SH NAME
deliverability \\- ${escaped(PURPOSE)}
.SH SYNOPSIS
.B deliverability
.I COMMAND
.RI [ ARGUMENT ]...
.SH DESCRIPTION
${escaped(DESCRIPTION)}
.SH COMMANDS
${commands.map(commandSection).join('')}.SH OPTIONS
Every command has its own options, which are listed above.
${item('-h, --help', 'Print the commands, or the options of a command')}${item('-V, --version', 'Print the version')}.SH ENVIRONMENT
Settings are environment variables.
The service of the Debian package reads them from
.IR /etc/deliverability/deliverability.env .
${variables.map(({ name, help, default: value }) => item(name, plain(`${help}${value ? ` Default: ${value}` : ''}`))).join('')}${item('DELIVERABILITY_API_KEY', 'API key that commands use to call a service')}${item('NO_COLOR', 'If set, commands print no colors')}.SH FILES
.TP
.I /etc/deliverability/deliverability.env
Settings of the service.
.TP
.I /var/lib/deliverability
Database and secret key of the service.
.SH EXIT STATUS
${item(`${EXIT.success}`, 'Success')}${item(`${EXIT.negative}`, 'Negative result, such as a score below the limit')}${item(`${EXIT.usage}`, 'Invalid usage or configuration')}${item(`${EXIT.externalFailure}`, 'External failure, such as a network or disk error')}.SH EXAMPLES
Check a message without a service:
.PP
.RS
${escaped('deliverability check --ip 192.0.2.1 message.eml')}
.RE
${example('Check the records of a domain', 'deliverability domain example.com')}${example(
  'Fail in a build pipeline if a template scores below 80, and write a report for it',
  'deliverability check --offline --fail-below 80 --report junit=report.xml templates/',
)}${example(
  'Create the owner on a server with the Debian package',
  'sudo deliverability-admin owner you@example.com',
)}.SH SEE ALSO
.BR systemd.service (5),
.BR journalctl (1)
.PP
The documentation is in /usr/share/doc/deliverability.
`;
}

function commandSection(command: Declaration): string {
  const { name, summary, exitCodes } = command;
  const terms = describedTerms(command).map(([term, text]) => item(term, text));
  const variables = (command.variables ?? []).map((name) => PREFIX + name).join(', ');
  const needed = variables && `.PP\n${sentence(`Most installations set only ${variables}`)}\n`;
  const codes = exitCodes ? `.PP\n${sentence(`Exit codes: ${exitCodes}`)}\n` : '';
  const usage = usagesOf(command)
    .map((usage) => escaped(`deliverability ${usage}`))
    .join('\n.br\n');
  return `.SS ${escaped(name)}\n.nh\n${usage}\n.hy\n.PP\n${sentence(summary)}\n${terms.join('')}${needed}${codes}`;
}
