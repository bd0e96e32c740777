/** Messages as people send them, for reports: an order, an urgent offer with many faults, a newsletter. */

export const ORDER = `Received: from app.shop.example (app.shop.example [10.0.0.9])
 by mail.shop.example with ESMTPS; Sat, 21 Nov 2026 09:59:58 +0000
From: Wool & Sons <orders@shop.example>
To: Reader <reader@example.net>
Subject: Your order 1042 is on its way
Date: Sat, 21 Nov 2026 09:59:57 +0000
Message-ID: <20261121.1042@shop.example>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="part"

--part
Content-Type: text/plain; charset=utf-8

Hello,

your order 1042 left our warehouse today and will be with you on Thursday:
https://shop.example/orders/1042

Wool & Sons
--part
Content-Type: text/html; charset=utf-8

<!doctype html><html lang="en"><body style="margin:0;background:#f4f1ec">
<table role="presentation" width="100%"><tr><td align="center" style="padding:32px 12px">
<table role="presentation" width="560" style="max-width:100%;background:#fff;border-radius:8px">
<tr><td style="padding:32px;font:16px/1.5 Georgia,serif;color:#2b2620">
<h1 style="font-size:24px;margin:0 0 16px">Your order is on its way</h1>
<p>Hello,</p><p>your order 1042 left our warehouse today and will be with you on Thursday.</p>
<p><a href="https://shop.example/orders/1042" style="display:inline-block;padding:12px 20px;background:#6b3f2a;color:#fff;text-decoration:none;border-radius:4px">Follow your order</a></p>
<p>Wool &amp; Sons</p></td></tr></table></td></tr></table></body></html>
--part--
`;

export const URGENT = `Received: from out7.sender.example by relay.sender.example with ESMTP;
 Sat, 21 Nov 2026 09:46:12 +0000
Received: from worker3.internal (unknown [10.0.0.3])
 by out7.sender.example with ESMTP; Sat, 21 Nov 2026 09:46:10 +0000
From: Acme Shop <news@acme.example>
To: you@example.net
Subject: LAST CHANCE!!! EVERYTHING MUST GO
Date: Sat, 21 Nov 2026 09:46:09 +0000
Message-ID: <1@localhost>
Precedence: bulk
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<html><body bgcolor="#ffe9c7"><center>
<h1><font color="#c4161c">LAST CHANCE!!!</font></h1>
<img src="https://img.acme.example/sale.gif" width="480" height="220">
<p>Dear {{first_name}}, everything must go. <a href="https://acme.example/autumn">Buy now</a> or see
<a href="https://acme.example/old-offer">www.big-shop.example</a>.</p>
<script>document.title = 'x'</script>
</center></body></html>
`;

export const NEWSLETTER = `Received: from app.shop.example (app.shop.example [10.0.0.9])
 by mail.shop.example with ESMTPS; Sat, 21 Nov 2026 09:59:30 +0000
From: Wool & Sons <news@shop.example>
To: Reader <reader@example.net>
Subject: =?utf-8?Q?Scarves_for_November_=E2=80=93_knitted_in_Wales?=
Date: Sat, 21 Nov 2026 09:59:29 +0000
Message-ID: <20261121.n11@shop.example>
List-Unsubscribe: <https://shop.example/unsubscribe/8231>, <mailto:leave@shop.example>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

--outer
Content-Type: multipart/related; boundary="related"

--related
Content-Type: multipart/alternative; boundary="part"

--part
Content-Type: text/plain; charset=utf-8

Scarves for November

Three new scarves, knitted in Wales: https://shop.example/scarves
Gloves to go with them: https://shop.example/gloves

You get this because you asked for it: https://shop.example/unsubscribe/8231
--part
Content-Type: text/html; charset=utf-8

<!doctype html><html lang="en"><body style="margin:0;background:#efeae4">
<table role="presentation" width="100%"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="600" style="max-width:100%;background:#fff">
<tr><td><img src="cid:banner@shop.example" alt="Scarves in red and violet" width="600" style="width:100%;height:auto;display:block"></td></tr>
<tr><td style="padding:28px;font:16px/1.6 Georgia,serif;color:#2b2620">
<h1 style="font-size:26px;margin:0 0 12px">Scarves for November</h1>
<p>Three new scarves, knitted in Wales, and gloves to go with them.</p>
<table role="presentation" width="100%"><tr>
<td width="50%"><img src="https://img.shop.example/scarf.jpg" alt="A red scarf" width="250" height="150"></td>
<td width="50%"><img src="https://img.shop.example/gloves.jpg" alt="Violet gloves" width="250" height="150"></td>
</tr></table>
<p><a href="https://shop.example/scarves">See the scarves</a> or <a href="https://shop.example/gloves">the gloves</a></p>
<p style="font-size:13px;color:#6b6257">You get this because you asked for it. <a href="https://shop.example/unsubscribe/8231">Unsubscribe</a></p>
<img src="https://shop.example/open/8231.gif" width="1" height="1" alt="">
</td></tr></table></td></tr></table></body></html>
--part--
--related
Content-Type: image/png
Content-ID: <banner@shop.example>
Content-Disposition: inline; filename="banner.png"
Content-Transfer-Encoding: base64

{banner}
--related--
--outer
Content-Type: application/pdf; name="size-guide.pdf"
Content-Disposition: attachment; filename="size-guide.pdf"
Content-Transfer-Encoding: base64

JVBERi0xLjQKJSBhIHNpemUgZ3VpZGUK
--outer--
`;
