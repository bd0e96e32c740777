/** What a rule stores for its channels. Secrets are encrypted, each bound to its rule and its name. */

import type { App } from '../../app.ts';
import type { AlertRow } from '../../store/tables.generated.ts';
import type { ChannelContext, ChannelField } from './channel.ts';

/** The only setting of earlier versions, which is stored as they store it unless there are others. */
const FIRST = 'slack_webhook_url';

type Stored = Pick<AlertRow, 'id' | 'slack_webhook_url'>;

const purposeOf = (name: string, alertId: string): string =>
  `${name === FIRST ? 'slack' : name} of ${alertId}`;

/** As they are stored. Those of a newer version are among them. */
function storedSettings({ slack_webhook_url: text }: Stored): Record<string, string> {
  if (text === null) return {};
  return text.startsWith('{') ? JSON.parse(text) : { [FIRST]: text };
}

/** Undefined if the rule has none, and null if it was encrypted with another key. */
export function settingOf(
  { secrets }: Pick<ChannelContext, 'secrets'>,
  rule: Stored,
  { name, isSecret }: Pick<ChannelField, 'name' | 'isSecret'>,
): string | null | undefined {
  const stored = storedSettings(rule)[name];
  if (stored === undefined || !isSecret) return stored;
  return secrets.open(stored, purposeOf(name, rule.id));
}

/** The column after a change: null removes a setting, and undefined keeps it. */
export function changeSettings(
  { secrets }: Pick<App, 'secrets'>,
  rule: Stored,
  fields: ChannelField[],
  changes: Record<string, unknown>,
): string | null {
  const settings = storedSettings(rule);
  for (const field of fields) {
    const { name, isSecret } = field;
    const value = changes[name] as string | null | undefined;
    if (value === null) delete settings[name];
    // Encrypting the same value again gives another ciphertext, so an unchanged one is kept.
    else if (value !== undefined && value !== settingOf({ secrets }, rule, field))
      settings[name] = isSecret ? secrets.seal(value, purposeOf(name, rule.id)) : value;
  }
  const names = Object.keys(settings);
  if (names.length === 0) return null;
  return names.length === 1 && names[0] === FIRST ? settings[FIRST]! : JSON.stringify(settings);
}

/** How responses show a field: the host of a secret URL, whether another secret is set, else the value. */
export function shownSetting(
  app: Pick<ChannelContext, 'secrets'>,
  rule: Stored,
  field: ChannelField,
): string | boolean | null {
  const value = settingOf(app, rule, field) ?? null;
  if (!field.isSecret) return value;
  if (field.kind === 'url') return value === null ? null : new URL(value).host;
  return value !== null;
}

/** The name of the property that shows it. */
export function shownName({
  name,
  kind,
  isSecret,
}: Pick<ChannelField, 'name' | 'kind' | 'isSecret'>) {
  if (!isSecret) return name;
  return kind === 'url' ? name.replace(/_url$/, '_host') : `${name}_set`;
}
