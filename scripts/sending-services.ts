/** The table of docs/sending-services.md: what a customer publishes for each service. */

import businessApps from '../src/analysis/sending-services/business-apps.json' with {
  type: 'json',
};
import emailApis from '../src/analysis/sending-services/email-apis.json' with { type: 'json' };
import newsletters from '../src/analysis/sending-services/newsletters.json' with { type: 'json' };
import type { SendingService } from '../src/analysis/sending-services/service.ts';
import { servicesOf } from '../src/analysis/sending-services/service-entry.ts';

export function sendingServiceTable(): string {
  const services = [newsletters, businessApps, emailApis].flatMap((entries) => servicesOf(entries));
  return [
    '| Service | DKIM | SPF |',
    '| --- | --- | --- |',
    ...services.toSorted((a, b) => a.name.localeCompare(b.name, 'en')).map(row),
  ].join('\n');
}

const row = (service: SendingService): string =>
  `| [${service.name}](${service.guides.dkim}) | ${dkimOf(service)} | ${spfOf(service)} |`;

function dkimOf({ dkim }: SendingService): string {
  switch (dkim.kind) {
    case 'cname':
      return dkim.records
        .map(([selector, target]) => `CNAME \`${selector}._domainkey\` → \`${target}\``)
        .join(', ');
    case 'txt':
      return dkim.selector ? `TXT \`${dkim.selector}._domainkey\`` : 'TXT, as it shows';
    case 'automatic':
      return 'turn it on there';
    case 'console':
      return 'as it shows';
  }
}

function spfOf({ spf }: SendingService): string {
  if (spf.kind === 'include') return spf.includes.map((name) => `\`include:${name}\``).join(' or ');
  return spf.kind === 'return_path' ? 'nothing' : 'as it shows';
}
