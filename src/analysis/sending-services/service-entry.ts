/** How the JSON files of this folder describe a sending service. `scripts/data.ts` checks them. */

import type { DkimSetup, SendingService, SpfSetup } from './service.ts';

/** `hosts` to `fields` are explained at `ServiceMarks`, the others at `SendingService`. */
export interface ServiceEntry {
  /** Defaults to the name in snake_case. */
  id?: string;
  name: string;
  /** For readers of the file. */
  note?: string;
  /** Defaults to true. */
  isShared?: boolean;
  /** Names of its servers, which also sign and send with them: `hosts`, `signs` and `mailFrom` in one. */
  domains?: string[];
  hosts?: string[];
  notHosts?: string[];
  signs?: string[];
  mailFrom?: string[];
  mx?: string[];
  regionalMx?: string[];
  keys?: string[];
  fields?: string[];
  /** The names to include in SPF, the usual one first and then those of other regions. */
  spfIncludes?: string[];
  /** SPF passes by its return path. Without this and `spfIncludes`, the account shows what to publish. */
  spfByReturnPath?: boolean;
  /** The keys of a customer. Without this and the two below, the account shows what to publish. */
  dkimCnames?: { selector: string; target: string }[];
  /** The selector of a key in a TXT record; null if the account shows it. */
  dkimTxt?: string | null;
  /** It publishes the key itself if it also hosts the customer's DNS. */
  dkimAutomatic?: boolean;
  selectors?: string[];
  returnPath?: string;
  returnPathLabel?: string;
  /** Its instructions for SPF and DKIM. */
  guide: string;
  /** Its instructions for DKIM, if they are on another page. */
  dkimGuide?: string;
  replacesFrom?: string;
}

export const servicesOf = (entries: ServiceEntry[]): SendingService[] => entries.map(serviceOf);

function serviceOf(entry: ServiceEntry): SendingService {
  const { domains, hosts = domains ?? [], signs = domains, mailFrom = domains } = entry;
  const { notHosts, mx, regionalMx, keys, fields, guide, dkimGuide = guide } = entry;
  return {
    id: entry.id ?? idOf(entry.name),
    name: entry.name,
    isShared: entry.isShared ?? true,
    marks: { hosts, notHosts, signs, mailFrom, mx, regionalMx, keys, fields },
    spf: spfSetup(entry),
    dkim: dkimSetup(entry),
    selectors: entry.selectors,
    returnPath: entry.returnPath ?? null,
    returnPathLabel: entry.returnPathLabel,
    guides: { spf: guide, dkim: dkimGuide },
    replacesFrom: entry.replacesFrom,
  };
}

const idOf = (name: string): string =>
  name
    .toLowerCase()
    .match(/[a-z0-9]+/g)!
    .join('_');

function spfSetup({ spfIncludes, spfByReturnPath }: ServiceEntry): SpfSetup {
  if (spfIncludes) return { kind: 'include', includes: spfIncludes };
  return { kind: spfByReturnPath ? 'return_path' : 'console' };
}

function dkimSetup({ dkimCnames, dkimTxt, dkimAutomatic }: ServiceEntry): DkimSetup {
  if (dkimCnames)
    return { kind: 'cname', records: dkimCnames.map(({ selector, target }) => [selector, target]) };
  if (dkimTxt !== undefined) return { kind: 'txt', selector: dkimTxt };
  return { kind: dkimAutomatic ? 'automatic' : 'console' };
}
