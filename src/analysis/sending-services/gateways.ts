/** Mail gateways that relay and filter the outgoing mail of a customer's own mail system. */

import { DKIM_IN_CONSOLE, guide, include, type SendingService, SPF_IN_CONSOLE } from './service.ts';

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
    marks: { hosts: ['pphosted.com'] },
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
];
