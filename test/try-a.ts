import { readFileSync, readdirSync } from 'node:fs';
import { readReceipt } from '../src/analysis/receipt/receipt.ts';
import { scanHeaders } from '../src/analysis/mime/headers.ts';
const dir = '/work/wt/h/test/fixtures/originals/';
for (const f of readdirSync(dir).filter((n) => n.endsWith('.eml'))) {
  const { headers } = scanHeaders(readFileSync(dir + f));
  const r = readReceipt(headers);
  const { receipt: w, note } = JSON.parse(readFileSync(dir + f.replace('.eml', '.json'), 'utf8'));
  const out: string[] = [];
  if (!r || !w) { if (!!r !== !!w) out.push(`got ${JSON.stringify(r)} want ${JSON.stringify(w)}`); }
  else {
    for (const k of ['by', 'provider', 'client_ip', 'helo', 'mail_from'] as const) if (w[k] !== 'any' && JSON.stringify(r[k]) !== JSON.stringify(w[k])) out.push(`${k}: ${r[k]} want ${w[k]}`);
    const tls = r.tls === null ? null : r.tls.used ? r.tls.version ?? 'used' : 'not used';
    if (tls !== w.tls) out.push(`tls ${tls} want ${w.tls}`);
    const rs = (x: any) => x && JSON.stringify(Object.entries(x).sort());
    if (w.results !== 'any' && rs(r.results) !== rs(w.results)) out.push(`results ${rs(r.results)} want ${rs(w.results)}`);
    if (w.at && (r.at === null || r.at < Date.parse(w.at[0]) || r.at > Date.parse(w.at[1]))) out.push(`at ${r.at && new Date(r.at).toISOString()} want ${w.at}`);
    const want = [...Array(w.added?.first ?? 0).keys(), ...Array.from({ length: w.added?.last ?? 0 }, (_, i) => headers.length - (w.added.last - i))];
    const names = (l: number[]) => l.map((i) => `${i}:${headers[i]?.name}`).join(' ');
    const miss = want.filter((i) => !r.addedFields.includes(i)), extra = r.addedFields.filter((i) => !want.includes(i));
    if (miss.length) out.push(`missing ${names(miss)}`);
    if (extra.length) out.push(`extra ${names(extra)}`);
  }
  if (out.length) console.log('==', f, '|', note, '\n  ', out.join('\n   '));
}
