import { readFileSync } from 'node:fs';
import type { X509Certificate } from 'node:crypto';

import { rootOf } from '../config/exposure.js';
import type { Config } from '../config/settings.js';
import { checkMaterial, isFor, readCertificates } from '../http/transport/certificate.js';
import { messageOf } from '../cli/terminal.js';
import { reportOf, type Finding } from './finding.js';

/** A certificate that ends sooner should be renewed by now, in milliseconds. */
const SOON = 21 * 86_400_000;

/**
 * Checks the certificates of a configuration: their strength, the names, the chain up to an authority, and how long they
 * are good.
 */
export function checkTls(config: Config, now: number): Finding[] {
  const report = reportOf('tls');
  const { 'tls-cert': cert, 'tls-key': key } = config;
  if (cert === undefined || key === undefined) {
    return [report.fine('the server itself speaks plain http: on this machine, or behind a proxy with TLS')];
  }
  const findings: Finding[] = [];
  let own: X509Certificate;
  let all: readonly X509Certificate[];
  try {
    const texts = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
    own = checkMaterial(texts, now);
    all = readCertificates(texts.cert, 'the certificate file');
  } catch (error) {
    return [report.fault(messageOf(error), 'the server does not start with it: renew the certificate or its key')];
  }
  const host = new URL(rootOf(config)).hostname;
  if (!isFor(own, host)) {
    findings.push(report.fault(`the certificate is not for ${host}`, 'ask for one with this name, or set --base-url'));
  }
  const broken = all.findIndex((each, i) => i + 1 < all.length && !each.checkIssued(all[i + 1]!));
  if (broken !== -1) {
    findings.push(
      report.fault(
        `certificate ${broken + 2} of the file is not that of who signed the one before`,
        'put the server first, then each authority that signed the one before it',
      ),
    );
  } else if (all.length === 1 && own.subject !== own.issuer) {
    findings.push(
      report.warning(
        `the file has the server's certificate alone; it is signed by "${own.issuer.replaceAll('\n', ', ')}"`,
        'add the certificates between it and the root, unless that is the root itself: clients do not fetch them',
      ),
    );
  }
  const first = all.toSorted((a, b) => Date.parse(a.validTo) - Date.parse(b.validTo))[0]!;
  const days = Math.floor((Date.parse(first.validTo) - now) / 86_400_000);
  const until = `the certificates are good for ${days} more days`;
  const isSoon = Date.parse(first.validTo) - now < SOON;
  findings.push(
    isSoon ? report.warning(until, 'renew them; the server takes new files without a restart') : report.fine(until),
  );
  return findings;
}
