/** `env`: prints every environment variable with its current value; secrets are masked. */

import { PREFIX, readConfig, settingsOf } from '../config/config.ts';
import type { Variable } from '../config/variables.ts';
import { VARIABLES } from '../config/variables.ts';
import { printable, printableJson } from '../lib/log.ts';
import { wrap } from '../report/text.ts';
import { defineCommand, EXIT, printMessage } from './command.ts';

const entries = Object.entries(VARIABLES as Record<string, Variable<unknown>>);

export const env = defineCommand({
  name: 'env',
  summary: 'Print every environment variable with its current value',
  options: { json: { description: 'Print them as a JSON array' } },
  async run({ values }, io) {
    const { config, warnings } = readConfig(io.env);
    for (const warning of warnings) printMessage(io, printable(warning));
    // Without the source, because the command does not say so in text either.
    const rows = settingsOf(config).map(({ source: _, ...row }) => row);
    if (values.json) io.stdout(`${printableJson(rows, 2)}\n`);
    else
      for (const row of rows)
        io.stdout(
          `${row.name}=${printable(row.value)}\n${wrap(`${row.help}${row.default ? ` (default: ${row.default})` : ''}`, io.width, '    ')}\n`,
        );
    return EXIT.success;
  },
});

/** The environment variables as a Markdown table, for docs/configuration.md. */
export function environmentTable(): string {
  const lines = entries.map(([name, spec]) => {
    const literal = spec.fallback ? `\`${spec.fallback}\`` : 'unset';
    return `| \`${PREFIX}${name}\` | ${spec.fallbackText ?? literal} | ${spec.help} |`;
  });
  return ['| variable | default | |', '|---|---|---|', ...lines].join('\n');
}
