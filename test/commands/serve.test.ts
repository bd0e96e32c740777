/** `serve` takes no options: what it says instead, and what `--help` and the manual page name. */

// @one-database: about printed texts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Io, UsageError } from '../../src/commands/command.ts';
import { COMMANDS } from '../../src/commands/commands.ts';
import { commandHelp } from '../../src/commands/help.ts';
import { serve } from '../../src/commands/serve.ts';
import { manPage } from '../../src/commands/shell/man-page.ts';
import { VARIABLES } from '../../src/config/variables.ts';

const P = 'DELIVERABILITY_';

/** A `serve` that went further than its arguments would fail for want of these. */
const io = {} as Io;

const ROWS: [args: string[], sentence: string][] = [
  [['--port', '8080'], `serve has no option --port. Set ${P}HTTP_PORT=8080 or ${P}SMTP_PORT=8080`],
  [['--smtp-port=25'], `serve has no option --smtp-port. Set ${P}SMTP_PORT=25`],
  [['--smtp-prot', '25'], `serve has no option --smtp-prot. Set ${P}SMTP_PORT=25`],
  [['--db', 'sqlite:x.db'], `serve has no option --db. Set ${P}DATABASE_URL`],
  [['--data-dir', '/srv/mail'], `serve has no option --data-dir. Set ${P}DATA_DIR=/srv/mail`],
  [
    ['--host', '0.0.0.0'],
    `serve has no option --host. Set ${P}SMTP_HOST=0.0.0.0 or ${P}HTTP_HOST=0.0.0.0`,
  ],
  [['--domain', 'a.example'], `serve has no option --domain. Set ${P}INBOX_DOMAIN=a.example`],
  [
    ['--base-url', 'https://a.example/b'],
    `serve has no option --base-url. Set ${P}BASE_URL=https://a.example/b`,
  ],
  [['--log-level', '--port'], `serve has no option --log-level. Set ${P}LOG_LEVEL`],
  [['--data-dir', 'my $files'], `serve has no option --data-dir. Set ${P}DATA_DIR`],
  [['-p', '80'], `serve has no option -p. Set ${P}HTTP_PORT=80 or ${P}SMTP_PORT=80`],
  [['--', '8080'], `serve takes no argument "8080". Set ${P}HTTP_PORT=8080 or ${P}SMTP_PORT=8080`],
  [['HTTP_PORT=1'], `serve takes no argument "HTTP_PORT=1". Set ${P}HTTP_PORT=1`],
  [[`${P}HTTP_PORT=1`], `serve takes no argument "${P}HTTP_PORT=1". Set ${P}HTTP_PORT=1`],
  [
    ['--frobnicate'],
    'serve has no option --frobnicate. It is configured with environment variables',
  ],
  [['now'], 'serve takes no argument "now". It is configured with environment variables'],
  [[''], 'serve takes no argument "". It is configured with environment variables'],
];

test('serve names the variable to set for an unknown option or argument', async () => {
  for (const [args, sentence] of ROWS)
    await assert.rejects(serve.run(args, io), (error) => {
      assert.ok(error instanceof UsageError, String(error));
      assert.equal(error.message, sentence);
      return true;
    });
});

test('serve never repeats a secret that was given as an option', async () => {
  for (const args of [['--secret-key', 'hunter2'], ['--owner-password=hunter2']])
    await assert.rejects(
      serve.run(args, io),
      ({ message }: Error) => /Set DELIVERABILITY_\w+$/.test(message) && !/hunter2/.test(message),
    );
});

test('Every variable is found by its name as an option', async () => {
  for (const name of Object.keys(VARIABLES)) {
    const option = `--${name.toLowerCase().replaceAll('_', '-')}`;
    await assert.rejects(serve.run([option], io), {
      message: `serve has no option ${option}. Set ${P}${name}`,
    });
  }
});

test('serve --help and the manual page name the six variables that matter', () => {
  const { variables = [] } = serve;
  assert.equal(variables.length, 6);
  const man = manPage(COMMANDS, 0).replaceAll('\\-', '-');
  const section = man.slice(man.indexOf('\n.SS serve\n'), man.indexOf('\n.SS check\n'));
  for (const width of [60, 80]) {
    const help = commandHelp(serve, { program: 'deliverability', width });
    for (const name of variables) {
      const {
        help: text,
        fallback,
        fallbackText,
      } = VARIABLES[name] as (typeof VARIABLES)['SMTP_HOST'];
      const words = help.replace(/\s+/g, ' ');
      assert.ok(words.includes(`${P}${name} ${text.replace(/\.$/, '')}`), name);
      assert.ok(words.includes(`(default: ${fallbackText ?? fallback})`), name);
      assert.ok(section.includes(P + name), name);
    }
    assert.match(help.replace(/\s+/g, ' '), /run deliverability env\./);
    assert.deepEqual(
      help.split('\n').filter((line) => line.length > width),
      [],
    );
  }
});
