/** Recognizes a display name that claims to be a well-known brand. Conservative: a name with other words passes. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { BRANDS, type Brand } from './brands.ts';

/** Words that follow a brand in the sender names of phishing mail. */
const ROLES = new Set(
  `account accounts alert alerts authentication billing care center centre claims client clients customer
  customers delivery department desk express fraud help helpdesk id inc info invoice invoices login mail
  message messages no noreply notice notification notifications official online order orders parcel
  password payment payments prevention protection refund refunds reply security service services shipping
  sign sign-in support system tax team update updates validation verification verify wallet warning
  kundenservice kundendienst sicherheit konto zahlung rechnung servicio seguridad cuenta assistance client
  sécurité compte servizio sicurezza beveiliging
  package packages parcels paket pakete sendung lieferung zustellung colis livraison paquete paquetes envíos
  pacco consegna pakket bezorging paczka przesyłka encomenda pakke`
    .trim()
    .split(/\s+/),
);

/** Letters of other scripts, and digits, that look like Latin letters. */
const LOOKALIKES: Record<string, string> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ѕ: 's',
  ј: 'j',
  к: 'k',
  м: 'm',
  т: 't',
  н: 'h',
  в: 'b',
  ԁ: 'd',
  ɡ: 'g',
  ӏ: 'l',
  α: 'a',
  ο: 'o',
  ρ: 'p',
  ι: 'i',
  ν: 'v',
  κ: 'k',
};

/** A name without decoration, in lower case. */
function normalize(name: string): string {
  return name
    .slice(0, 200)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
    .replace(/[^\x00-\x7f]/g, (letter) => LOOKALIKES[letter] ?? letter)
    .replace(/[®™©"'’“”()[\]<>|:,;!*_/\\-]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The spellings of each brand, longest first, so that "Microsoft 365" comes before "Microsoft". */
const SPELLINGS = BRANDS.flatMap((brand) =>
  [brand.name, ...(brand.aliases ?? []), ...brand.domains].map((text) => ({
    text: text.toLowerCase(),
    brand,
  })),
).toSorted((a, b) => b.text.length - a.text.length);

/**
 * The brand that a display name claims to be: its name alone, or followed by words such as "Security
 * Team". "Microsoft User Group Berlin" claims nothing.
 */
export function brandInName(name: string): Brand | null {
  const plain = normalize(name);
  const asLetters = plain.replaceAll('0', 'o').replaceAll('1', 'l');
  for (const { text, brand } of SPELLINGS)
    for (const candidate of [plain, asLetters]) if (claims(candidate, text, brand)) return brand;
  return null;
}

function claims(name: string, spelling: string, { needsRole }: Brand): boolean {
  if (name === spelling) return !needsRole;
  if (!name.startsWith(`${spelling} `)) return false;
  const words = name.slice(spelling.length).trim().split(' ');
  return words.every((word) => ROLES.has(word.replace(/\.$/, '')));
}

/** Whether the brand owns one of these domains. */
export function ownsAny({ name, domains }: Brand, candidates: string[]): boolean {
  const label = name
    .toLowerCase()
    .replace(/\.com$/, '')
    .replace(/[^a-z0-9]/g, '');
  return candidates.some((candidate) => {
    const domain = candidate.toLowerCase();
    if (domains.some((own) => domain === own || domain.endsWith(`.${own}`))) return true;
    const own = organizationalDomain(domain)?.split('.')[0] ?? '';
    return own.replaceAll('-', '') === label;
  });
}
