/** A DNS record to publish, each part with a copy button, as the forms of DNS providers want it. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { sanitize } from '../../report/blocks.ts';
import { Copyable } from '../../ui/components.tsx';

interface Published {
  type: string;
  name: string;
  value: string;
}

/** `domain` determines which part of the name most providers add themselves. */
export function DnsRecord({ record, domain }: { record: Published; domain: string }) {
  const { type, name, value } = sanitize(record);
  const zone = organizationalDomain(domain) ?? domain;
  const host = hostName(name, zone);
  return (
    <div class="stack">
      <dl class="dns-record">
        <div>
          <dt>Type</dt>
          <dd>
            <Copyable text={type} label="the type" />
          </dd>
        </div>
        <div>
          <dt>Name</dt>
          <dd>
            <Copyable text={name} label="the name" />
          </dd>
        </div>
        <div>
          <dt>Value</dt>
          <dd>
            <Copyable text={value} label="the value" />
          </dd>
        </div>
      </dl>
      {host !== null && (
        <p class="small muted">
          Most DNS providers add <code>.{zone}</code> themselves. In their forms, enter the name{' '}
          <code>{host}</code>.
        </p>
      )}
    </div>
  );
}

/** The name without the zone, or `@` for the zone itself; null if it is outside of the zone. */
export function hostName(name: string, zone: string): string | null {
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : null;
}
