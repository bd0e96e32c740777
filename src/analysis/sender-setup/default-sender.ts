/** Programs that send with the sender address of their installation, and where they set another one. */

import { ownerOf } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { isLocalName } from '../dns/names.ts';
import programs from './programs.json' with { type: 'json' };

/** An entry of `programs.json`. In patterns, `*` matches anything. The first match counts. `scripts/data.ts` checks them. */
export interface ProgramEntry {
  name: string;
  /** Patterns of its default address. */
  addresses?: string[];
  /** Patterns of its own header fields, for another default address. */
  fields?: string[];
  /** Where to change the address, in the middle of a sentence. */
  setting: string;
}

const PROGRAMS = (programs as ProgramEntry[]).map(({ name, addresses, fields, setting }) => ({
  name,
  addresses: anyOf(addresses),
  fields: anyOf(fields),
  setting,
}));

function anyOf(patterns: string[] = []): RegExp | null {
  if (patterns.length === 0) return null;
  const alternatives = patterns.join('|').replaceAll('.', '\\.').replaceAll('*', '.*');
  return new RegExp(`^(?:${alternatives})$`);
}

/** Addresses and domains that manuals and forms show, and that nobody can use. */
const PLACEHOLDER =
  /^(?:your|you|your[._-]?(?:e?mail|name|address)|name|user|me)@(?:e?mail|domain|company|example|website)\.com$|@(?:[a-z0-9-]+\.)*(?:(?:your|my)[-_]?(?:domain|company|site|website|server|host)\.[a-z]{2,4}|(?:domain|company|example|host|server|site)\.tld|change[-_]?me(?:\.[a-z]+)?)$/;

/** Local parts that manuals show. */
const USUAL =
  /^(?:admin|administrator|no-?reply|webmaster|info|test|user|username|root|hello|support|sender|from|me|you|mail|email|contact|system|alerts?|notifications?|postmaster|sales|owner|john|jane|foo)@/;

/** System accounts, whose mail has the name of the computer unless a sender is set. */
const ACCOUNT =
  /^(?:root|www-data|apache|httpd|www|wwwrun|nginx|nobody|daemon|cron|nagios|icinga|zabbix|monit)@/;

/** Domains of makers of programs, in default addresses. */
const VENDORS = /(?:^|\.)(?:prestashop\.com|unconfigured\.discourse\.org|strapi\.io|directus\.io)$/;

/** Domains in manuals (RFC 2606). */
const EXAMPLES = /(?:^|\.)example\.(?:com|net|org)$/;

export interface DefaultSender {
  address: string;
  /** "Jenkins"; null if nothing shows it. */
  program: string | null;
  /** How to change it, in the middle of a sentence. */
  setting: string;
  /** The domain cannot be the sender's: a local name, or an example domain. */
  isPlaceholder: boolean;
  /** The domain is an example domain. */
  isExample: boolean;
  /** Programs or manuals use this exact address. */
  isKnown: boolean;
}

const SETTING = 'in the settings of the program that sends the message, set the sender address';

/** A fact: the default address in From; null for any other. */
export function defaultSender({ message }: Context): DefaultSender | null {
  const address = message.from[0]?.address.slice(0, 320).toLowerCase() ?? '';
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (!address.includes('@') || domain === '') return null;
  const known = PROGRAMS.find(({ addresses }) => addresses?.test(address));
  const isPlaceholder =
    // One label is the name of a computer.
    /^[a-z0-9_-]+$/.test(domain) ||
    isLocalName(domain) ||
    EXAMPLES.test(domain) ||
    PLACEHOLDER.test(address) ||
    (known !== undefined && VENDORS.test(domain));
  const isOfHost = ACCOUNT.test(address) && ownerOf(domain) !== domain;
  if (!isPlaceholder && !isOfHost && !address.startsWith('wordpress@')) return null;
  const program =
    PROGRAMS.find(({ fields }) => message.headers.some(({ key }) => fields?.test(key))) ?? known;
  return {
    address,
    program: program?.name ?? null,
    setting: program?.setting ?? SETTING,
    isPlaceholder,
    isExample: EXAMPLES.test(domain),
    isKnown: known !== undefined || USUAL.test(address),
  };
}
