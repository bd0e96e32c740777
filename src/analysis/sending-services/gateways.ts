/** Mail gateways that relay and filter the outgoing mail of a customer's own mail system. */

import { table } from '../../lib/table.ts';
import { DKIM_IN_CONSOLE, guide, include, type SendingService, SPF_IN_CONSOLE } from './service.ts';
import { servicesOf } from './service-table.ts';

export const GATEWAYS: SendingService[] = [
  {
    id: 'mimecast',
    name: 'Mimecast',
    isShared: true,
    marks: {
      hosts: ['mimecast.com', 'mimecast.co.za', 'mimecast-offshore.com'],
      fields: ['x-mc-unique', 'x-mimecast-originator'],
    },
    spf: include(
      '_netblocks.mimecast.com',
      'us._netblocks.mimecast.com',
      'eu._netblocks.mimecast.com',
      'de._netblocks.mimecast.com',
      'ca._netblocks.mimecast.com',
      'au._netblocks.mimecast.com',
      'za._netblocks.mimecast.com',
    ),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://mimecastsupport.zendesk.com/hc/en-us'),
  },
  {
    id: 'proofpoint_essentials',
    name: 'Proofpoint Essentials',
    isShared: true,
    marks: { hosts: ['ppe-hosted.com'] },
    spf: include('_spf-us.ppe-hosted.com', '_spf-eu.ppe-hosted.com'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://help.proofpoint.com/'),
  },
  {
    id: 'proofpoint',
    name: 'Proofpoint',
    isShared: true,
    marks: { hosts: ['pphosted.com', 'gpphosted.com'] },
    spf: SPF_IN_CONSOLE,
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://help.proofpoint.com/'),
  },
  {
    id: 'barracuda',
    name: 'Barracuda Email Gateway Defense',
    isShared: true,
    marks: {
      hosts: ['ess.barracuda.com', 'ess.barracudanetworks.com'],
      fields: ['x-barracuda-apparent-source-ip'],
    },
    spf: include('spf.ess.barracudanetworks.com'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://campus.barracuda.com/'),
  },
  {
    id: 'hornetsecurity',
    name: 'Hornetsecurity',
    isShared: true,
    marks: { hosts: ['hornetsecurity.com', 'antispameurope.com'] },
    spf: include('spf.hornetsecurity.com'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://support.hornetsecurity.com/hc/en-us'),
  },
  ...servicesOf(table`
Check Point Harmony Email | sc1.checkpoint.com | cloud-sec-av.com cpmails.com | | spfa.cpmails.com
Cisco Secure Email Cloud Gateway | www.cisco.com | iphmx.com
Cloudflare Email Security | developers.cloudflare.com/email-security | mxrecord.io mxrecord.mx
DuoCircle | support.duocircle.com | mailhop.org | | outbound.mailhop.org
Egress | support.egress.com | egress.com egress.cloud
Exclaimer | support.exclaimer.com | exclaimer.net | | spf.exclaimer.net spf.us.exclaimer.net spf.uk.exclaimer.net spf.au.exclaimer.net
eXpurgate | www.eleven.de | expurgate.net
Forcepoint Email Security Cloud | support.forcepoint.com | mailcontrol.com | | mailcontrol.com
FortiMail Cloud | docs.fortinet.com | fortimail.com fortimailcloud.com
GoSecure | www.gosecure.ai | gosecure.net
IIJ SecureMX | www.iij.ad.jp | securemx.jp
INKY | www.inky.com | inkyphishfence.com
Libraesva | docs.libraesva.com | esvacloud.com
LuxSci | luxsci.com | luxsci.com
MailGuard | www.mailguard.com.au | mailguard.com.au | | customer.mailguard.com.au
Mailinblack | www.mailinblack.com | mailinblack.com
Mailprotector | support.mailprotector.com | emailservice.io emailsrv.net
MailRoute | support.mailroute.net | mailroute.net
Mesh | www.emailsecurity.app | emailsecurity.app
N-able Mail Assure | documentation.n-able.com | antispamcloud.com mtaroutes.com | | spf.antispamcloud.com
OpenText AppRiver (Zix) | www.opentext.com/support | appriver.com zixcorp.com zixworks.com zixsmbhosted.com smtp25.com
Paubox | docs.paubox.com | paubox.com | | _spf.paubox.com
Perception Point | docs.perception-point.io | perception-point.io
Retarus | www.retarus.com | rmx.de retarus.com
Securence | www.securence.com | securence.com
SEPPmail.cloud | docs.seppmail.com | seppmail.cloud
SMX | smxemail.com | smxemail.com
Sophos Email | docs.sophos.com | hydra.sophos.com
SpamTitan | docs.titanhq.com | spamtitan.com titanhq.com encrypttitan.net
Symantec Email Security.cloud | knowledge.broadcom.com | messagelabs.com | | spf.messagelabs.com
Trellix Email Security | docs.trellix.com | fireeyecloud.com fireeyegov.com
Trend Micro Email Security | docs.trendmicro.com | tmes.trendmicro.com tmes.trendmicro.eu hes.trendmicro.com hes.trendmicro.eu | | spf.tmes.trendmicro.com spf.tmes.trendmicro.eu
Trustifi | trustifi.com | trustifi.com
Vade | www.vadesecure.com | vadesecure.com
VIPRE Email Security | support.vipre.com | electric.net
Virtru | support.virtru.com | virtrugateway.com
`),
];
