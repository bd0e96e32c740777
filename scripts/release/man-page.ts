/** Writes the manual page from what `--help` prints. */

/** A line that starts with a dot or an apostrophe is a command in manual pages, and a backslash starts an escape. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

/** `help` is the output of `deliverability --help`: the purpose, the commands, and how to learn more. */
export function manPage(help: string, version: string, epoch: number): string {
  const [purpose = '', commands = '', more = ''] = help.trim().split('\n\n');
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  const [, summary = ''] = /^deliverability \S+: ([\s\S]+)$/.exec(purpose) ?? [];
  return `.TH DELIVERABILITY 1 ${date} "deliverability ${version}" "User Commands"
.SH NAME
deliverability \\- ${escaped(summary.replace(/\s+/g, ' '))}
.SH SYNOPSIS
.B deliverability
.I COMMAND
[\\fIOPTION\\fR]...
.SH COMMANDS
.nf
${escaped(commands)}
.fi
.SH SETTINGS
${escaped(more.replace(/\s+/g, ' '))}
The service reads them from /etc/deliverability/deliverability.env.
.PP
To run a command with the settings and the user of the service, such as the first one after the installation:
.PP
.RS
sudo deliverability\\-admin owner you@example.com
.RE
.SH FILES
.TP
.I /etc/deliverability/deliverability.env
Settings of the service.
.TP
.I /var/lib/deliverability
Database and secret key of the service.
`;
}
