/** Reverse names of access lines, and of rented servers, which have generic names too. */

import { containsAddress } from '../dns/names.ts';
import { hasSuffix } from '../sending-services/service.ts';
import lineNames from './line-names.json' with { type: 'json' };

/**
 * `access`: access providers whose names for lines have none of the words below. `rented`: providers of servers, whose
 * customers set the reverse name in the control panel.
 */
const { access, rented } = lineNames;

/** Words for lines with changing addresses, and for connections of homes. */
const LINE_WORDS =
  /^(?:dyn|dynamic|dynip|dynamicip|dinamic[oa]?|dhcp|[avxs]?dsl|adslplus|pppoe?|dial|dialup|dialin|dip|pools?|cable|catv|hsd1|hsi|kabel|broadband|bband|bb|ftt[hxbc]|fib(?:er|re|ra)|fios|glasfaser|res|residential|retail|abo|cpe|cm|subs|subscribers?|dclient|users?|home|mobile?|lte|4g|5g|wireless|wlan|wimax|gprs|umts|3g|cgn|cgnat|nat|surfer|modem|access|lfbn|bredband|laajakaista|internetdsl|neoplus)$/;

/** Words for addresses that stay, and for servers. */
const SERVER_WORDS =
  /^(?:static|stat|estatico|statique|fixed|fix|fixe|server|srv|vserver|vps|vm|kvm|ded|dedicated|dedi|cloud|colo|colocation|hosting|host(?:ed)?by|business|b2b|biz|corp|compute|instance)$/;

const partsOf = (name: string): string[] => name.split(/[.\-_]|(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])/);

/**
 * `own`: a name that someone chose. All others are generic: `line` of an access provider, `rented` server, `static`
 * for an address that does not change, and `unknown`.
 */
export type NameKind = 'own' | 'line' | 'rented' | 'static' | 'unknown';

/** Names of lines with only a part of the address have many numbers. */
const MIN_NUMBERS = 3;

export function kindOfName(name: string, address: string): NameKind {
  const isOfAccess = hasSuffix(name, access);
  const isNumbered = isOfAccess && (name.match(/\d+/g) ?? []).length >= MIN_NUMBERS;
  if (!isNumbered && !containsAddress(name, address)) return 'own';
  if (hasSuffix(name, rented)) return 'rented';
  const parts = partsOf(name);
  if (parts.some((part) => SERVER_WORDS.test(part))) return 'static';
  return isOfAccess || parts.some((part) => LINE_WORDS.test(part)) ? 'line' : 'unknown';
}
