import { analyze } from '../../src/analysis/analyze.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { benchMail } from './message.ts';
import { newsletter, plainMessage } from './newsletter.ts';
import { makeKey, signMessage } from '../../test/helpers/signer.ts';
const which = process.argv[2] ?? 'newsletter';
const count = Number(process.argv[3] ?? 1000);
const { input, zone } = await benchMail();
const text = which === 'plain' ? plainMessage() : which === 'large' ? newsletter(100, ' Some more words follow here, which say nothing.'.repeat(4)) : newsletter(8);
const [own, provider] = [makeKey(), makeKey()];
const once = await signMessage(text, { domain: 'example.com', selector: 's1', key: own });
const raw = await signMessage(once, { domain: 'provider.example', selector: 's2', key: provider });
(zone as any)['s1._domainkey.example.com'] = { TXT: [own.record] };
(zone as any)['s2._domainkey.provider.example'] = { TXT: [provider.record] };
const resolver = zoneResolver(zone);
const run = () => analyze({ ...input, raw: Buffer.from(raw) }, { resolver });
for (let i = 0; i < 200; i++) await run();
const threads: number[] = [], alls: number[] = [];
for (let k = 0; k < 12; k++) {
  const before = process.threadCpuUsage(), all = process.cpuUsage();
  for (let i = 0; i < count / 10; i++) JSON.stringify((await run()).checks);
  const t = process.threadCpuUsage(before), a = process.cpuUsage(all);
  threads.push((t.user + t.system) / 100 / count); alls.push((a.user + a.system) / 100 / count);
}
const r = await run();
console.log(which, raw.byteLength, 'score', r.score, 'thread ms', Math.min(...threads).toFixed(3), 'all', Math.min(...alls).toFixed(3));
