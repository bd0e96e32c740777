/** The name server that `dns add-server` adds: settings from arguments, the secret from standard input. */

import * as v from 'valibot';
import { NewDnsServer } from '../../dns-changes/schema.ts';
import { SERVER_KINDS, type ServerKindId } from '../../dns-changes/servers/index.ts';
import { type Io, UsageError } from '../command.ts';

const MAX_SECRET_BYTES = 10_000;

interface Given {
  kind: ServerKindId;
  setting?: string[] | undefined;
}

/** Arguments can be seen by other users of the machine, so secrets are never among them. Throws a UsageError. */
export async function readNewServer(
  io: Pick<Io, 'stdin'>,
  name: string,
  { kind, setting = [] }: Given,
): Promise<NewDnsServer> {
  const { fields } = SERVER_KINDS[kind];
  const settings: Record<string, string> = {};
  for (const text of setting) {
    const equals = text.indexOf('=');
    if (equals < 1) throw new UsageError('--setting must be NAME=VALUE');
    const key = text.slice(0, equals);
    if (fields.some((field) => field.name === key && field.isSecret))
      throw new UsageError(`Pass ${key} on standard input, not as an argument`);
    settings[key] = text.slice(equals + 1);
  }
  const secret = fields.find(({ isSecret }) => isSecret);
  // A choice has a default.
  for (const field of fields)
    if (field.kind === 'choice' && field.isRequired) settings[field.name] ??= field.choices![0]!;
  if (secret) {
    const text = new TextDecoder().decode(await io.stdin(MAX_SECRET_BYTES)).trim();
    if (text === '') throw new UsageError(`Pass ${secret.name} on standard input`);
    settings[secret.name] = text;
  }
  const parsed = v.safeParse(NewDnsServer, { kind, name, settings });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const key = issue.path?.at(-1)?.key;
  throw new UsageError(`${String(key ?? 'The name server')} ${issue.message}`);
}
