/** Reverse names of access lines, and of rented servers, which have generic names too. */

import { table } from '../../lib/table.ts';
import { containsAddress } from '../dns/names.ts';
import { hasSuffix } from '../sending-services/service.ts';

/** Access providers whose names for lines have none of the words below. */
const ACCESS = table`
t-ipconnect.de d1-online.com web.vodafone.de versanet.de ewe-ip-backbone.de netcologne.de osnanet.de m-online.net vodafone-ip.de unitymediagroup.de
kabel-badenwuerttemberg.de superkabel.de telefonica.de arcor-ip.net highway.telekom.at surfer.at a1.net hispeed.ch
cust.bluewin.ch wanadoo.fr proxad.net abo.wanadoo.fr sfr.net bbox.fr rev.sfr.net numericable.fr telenet.be proximus.be
voo.be ziggo.nl kpn.net xs4all.nl chello.nl btcentralplus.com btinternet.com virginm.net virginmedia.com
bb.sky.com as13285.net plus.com opaltelecom.net eircom.net rima-tde.net ono.com jazztel.es telepac.pt netvisao.pt
telecomitalia.it fastwebnet.it wind.it tiscali.it vodafonedsl.it telia.com bredbandsbolaget.se telenor.no
get.no stofanet.dk tdc.net elisa-laajakaista.fi dnainternet.fi tpnet.pl chello.pl netia.com.pl iol.cz
o2.cz upc.hu t-online.hu rdsnet.ro btc-net.bg otenet.gr hol.gr ttnet.com.tr superonline.net bezeqint.net
comcast.net res.rr.com rr.com spectrum.com charter.com cox.net verizon.net fios.verizon.net sbcglobal.net att.net
optonline.net frontiernet.net centurylink.net qwest.net rogers.com bell.ca videotron.ca shawcable.net telus.net
prod-infinitum.com.mx veloxzone.com.br virtua.com.br gvt.net.br vivozap.com.br speedy.com.ar fibertel.com.ar
vtr.net bbtec.net ocn.ne.jp plala.or.jp so-net.ne.jp eonet.ne.jp dion.ne.jp hinet.net 163data.com.cn airtelbroadband.in
tpgi.com.au on.net bigpond.net.au iinet.net.au optusnet.com.au xtra.co.nz telkomadsl.co.za mweb.co.za
`.flatMap(([names = '']) => names.split(' '));

/** Providers of servers, whose customers set the reverse name in the control panel. */
const RENTED = table`
your-server.de vultr.com vultrusercontent.com choopa.net linodeusercontent.com linode.com amazonaws.com
googleusercontent.com cloudapp.azure.com azure.com ovh.net ovh.ca ovh.us kimsufi.com soyoustart.com contaboserver.net contabo.net
stratoserver.net onlinehome-server.info onlinehome-server.com perfora.net hosteurope.de poneytelecom.eu online.net
scaleway.com yourvserver.net happysrv.de goodsrv.de nerdpol.ovh netcup.net digitalocean.com leaseweb.net hwsrv.com
colocrossing.com colocrossing.net ramnode.com oraclevcn.com transip.net secureserver.net startdedicated.com
startdedicated.de plusserver.com serverprofi24.eu hostwindsdns.com dedicated.co.za time4vps.cloud hostinger.com
unifiedlayer.com bluehost.com dreamhost.com dedipath.com aruba.it arubacloud.com ionos.com
`.flatMap(([names = '']) => names.split(' '));

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
  const isOfAccess = hasSuffix(name, ACCESS);
  const isNumbered = isOfAccess && (name.match(/\d+/g) ?? []).length >= MIN_NUMBERS;
  if (!isNumbered && !containsAddress(name, address)) return 'own';
  if (hasSuffix(name, RENTED)) return 'rented';
  const parts = partsOf(name);
  if (parts.some((part) => SERVER_WORDS.test(part))) return 'static';
  return isOfAccess || parts.some((part) => LINE_WORDS.test(part)) ? 'line' : 'unknown';
}
