/** Help and common errors of the command line. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../../src/commands/commands.ts';
import { spawnSync } from '../programs.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Resolved here: the commands run in a folder of their own. */
const TSX = import.meta.resolve('tsx');

export function commandTexts(): [name: string, text: string][] {
  const folder = mkdtempSync(join(tmpdir(), 'deliverability-'));
  const message = join(folder, 'mail.eml');
  writeFileSync(message, 'From: a@example.com\r\nSubject: Hello\r\n\r\nHello\r\n');
  const runs: [string[], Record<string, string>?][] = [
    [['--help']],
    [[]],
    [['serv']],
    ...COMMANDS.map(({ name }): [string[]] => [[name, '--help']]),
    [['man']],
    [['env']],
    [['check']],
    [['check', '--dns', 'off', message]],
    [['check', join(folder, 'missing.eml')]],
    [['check', '--unknown', message]],
    [['domain', '--dns', 'off', 'example.com']],
    [['domain', 'not a domain']],
    [['owner', 'nobody']],
    [['key', 'unexpected']],
    [['serve'], { DELIVERABILITY_HTTP_PORT: '99999', DELIVERABILITY_SMTP_PORTS: '25' }],
  ];
  const texts = runs.map(([args, env = {}]): [string, string] => {
    const { PATH = '' } = process.env;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', TSX, MAIN, ...args],
      { encoding: 'utf8', cwd: folder, env: { PATH, DELIVERABILITY_DATA_DIR: folder, ...env } },
    );
    const shown = args.map((one) => one.replace(`${folder}/`, '')).join(' ');
    return [
      `deliverability ${shown} (exit ${status})`,
      `${stdout}${stderr}`.replaceAll(`${folder}/`, ''),
    ];
  });
  rmSync(folder, { recursive: true, force: true });
  return texts;
}
