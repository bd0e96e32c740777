/** Mail gateways that replace the links of messages by addresses of their own, to check them when they are clicked. */

/** The product, and the ends of its host names. */
const GATEWAYS: [product: string, hosts: string[]][] = [
  [
    'Safe Links of Microsoft Defender',
    ['safelinks.protection.outlook.com', 'safelinks.protection.office365.us'],
  ],
  ['URL Defense of Proofpoint', ['urldefense.com', 'urldefense.proofpoint.com', 'urldefense.us']],
  ['URL Protection of Mimecast', ['mimecast.com', 'mimecastprotect.com']],
  ['Link Protection of Barracuda', ['linkprotect.cudasvc.com']],
  ['Cisco Secure Email', ['secure-web.cisco.com']],
  ['Symantec Email Security', ['clicktime.symantec.com', 'clicktime.cloud.postoffice.net']],
  ['Sophos Email', ['protection.sophos.com']],
  ['Trend Micro Email Security', ['ctp.trendmicro.com', 'imsva91-ctp.trendmicro.com']],
  ['Libraesva', ['urlsand.esvalabs.com', 'urlsand.com']],
  ['Hornetsecurity', ['atpscan.global.hornetsecurity.com', 'hornetsecurity.com']],
  ['FortiMail', ['fortimailcloud.com']],
  ['LinkSafe of Intermedia', ['url.emailprotection.link']],
];

/** The product that rewrote a link to this host; null if none is known. */
export function rewritingGateway(host: string | null): string | null {
  const name = host?.toLowerCase() ?? '';
  const found = GATEWAYS.find(([, hosts]) =>
    hosts.some((end) => name === end || name.endsWith(`.${end}`)),
  );
  return found?.[0] ?? null;
}
