/** Devices and appliances that send mail by themselves: printers, scanners, storage, cameras, routers. */

import { table } from '../../lib/table.ts';
import type { Context } from '../check.ts';
import { fieldValue } from '../mime/message.ts';

/** Columns: the kind; the maker or product; patterns of HELO, X-Mailer, the sender’s name or the subject. */
const DEVICES = table`
printer | Konica Minolta | kmbt_ bizhub konica.?minolta
printer | HP | \bnpi[0-9a-f]{6}\b \bhp[0-9a-f]{6,12}\b \bhp.?laser \bhp.?office \bhp.?page \bhp.?color \bhp.?digital \bhp.?mfp hewlett
printer | Canon | \bir-?adv \bcanon imagerunner
printer | Xerox | \bxrx[0-9a-f]{6,12}\b workcentre altalink versalink xerox
printer | Ricoh | \brnp[0-9a-f]{6,12}\b ricoh aficio
printer | Brother | \bbr[nw][0-9a-f]{8,12}\b brother.?mfc brother.?dcp brother.?hl
printer | Kyocera | \bkm[0-9a-f]{6}\b kyocera taskalfa ecosys
printer | Epson | \bepson
printer | Lexmark | \bet00[0-9a-f]{8,10}\b lexmark
printer | Sharp | \bsc[0-9a-f]{6}\b \bsharp.?mx
printer | Toshiba | \bmfp\d{6,} e-?studio
printer | Samsung | \bsec[0-9a-f]{12}\b samsung.?printer samsung.?scx samsung.?clx
scanner | scanner | \bscanner\b \bscan.?to.?e?mail \bmfp\b
storage system | Synology | synology diskstation rackstation
storage system | QNAP | \bqnap\b \bnas[0-9a-f]{6}\b qts.notification
storage system | storage system | ^nas\d*$ readynas wdmycloud mycloud terramaster asustor truenas freenas openmediavault unraid
router | FRITZ!Box | fritz.?!?box
router | router | \brouter\b mikrotik routeros openwrt edgerouter unifi pfsense opnsense draytek vigor lancom speedport
camera | camera | hikvision dahua \baxis-[0-9a-f]{12} reolink foscam \bip.?cam \bnvr\b \bdvr\b
UPS | UPS | apcupsd \bapc[0-9a-f]{6} powerchute \bups.?alarm \bups.?event \bups.?monitor
hypervisor | Proxmox | proxmox vzdump \bpve\d*\b
hypervisor | VMware | vmware \besxi?\b vcenter
server controller | server controller | \bilo[a-z0-9]{6,} \bidrac \bbmc\b
`.map(([kind = '', maker = '', words = '']) => ({
  name: kind === maker ? kind : `${maker} ${kind}`,
  pattern: new RegExp(words.replaceAll(' ', '|'), 'i'),
}));

const MAX_FIELD = 200;

/** A fact: the device that shows its name in HELO, the program field, From or the subject; null if none does. */
export function device({ message, envelope }: Context): string | null {
  const sender = message.from[0];
  const texts = [
    envelope.helo ?? '',
    fieldValue(message, 'x-mailer') ?? fieldValue(message, 'user-agent') ?? '',
    sender?.name ?? '',
    sender?.address.split('@')[0] ?? '',
    message.subject ?? '',
  ].map((text) => text.slice(0, MAX_FIELD));
  return DEVICES.find(({ pattern }) => texts.some((text) => pattern.test(text)))?.name ?? null;
}
