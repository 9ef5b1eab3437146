"""A certificate authority made at start, and a certificate for each requested host.

The keys stay in this process.  The authority's certificate is written to a file, so that clients
can trust it; keys and certificates of hosts are written only while OpenSSL reads them, in a
folder that only this user may enter.
"""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
import threading
from collections import OrderedDict
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.errors import PinakesError
from pinakes.extras import missing_extra

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

_NAME = "Pinakes replay, of this process only"
# A wide span: clients whose clock is set to the capture's date must accept the certificates.
_FROM = datetime(1990, 1, 1, tzinfo=timezone.utc)
_UNTIL = datetime(2049, 12, 31, tzinfo=timezone.utc)
_KEPT_HOSTS = 2_000


class Authority:
    """Signs for any host.  Safe for several threads; `close` removes its files."""

    def __init__(self) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric import ec
        except ImportError as error:
            raise missing_extra("replay needs cryptography", "qa") from error
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._host_key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = _self_signed(self._key)
        self._folder = tempfile.TemporaryDirectory(prefix="pinakes-replay-")
        self.ca_file = Path(self._folder.name) / "ca.pem"
        self.ca_file.write_bytes(_pem(self._certificate))
        self._contexts: OrderedDict[str, ssl.SSLContext] = OrderedDict()
        self._lock = threading.Lock()

    def context(self, host: str) -> ssl.SSLContext:
        """The TLS context of a server with that name.

        Raises:
            PinakesError: no certificate can have that name.
        """
        with self._lock:
            context = self._contexts.get(host)
            if context is not None:
                self._contexts.move_to_end(host)
                return context
            context = self._contexts[host] = self._new_context(host)
            if len(self._contexts) > _KEPT_HOSTS:
                self._contexts.popitem(last=False)
            return context

    def _new_context(self, host: str) -> ssl.SSLContext:
        from cryptography.hazmat.primitives import serialization

        try:
            certificate = self._sign(host)
        except ValueError as error:
            raise PinakesError(f"no certificate possible for host {host[:300]!r}") from error
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        private = self._host_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        chain = Path(self._folder.name) / "host.pem"
        chain.write_bytes(private + _pem(certificate) + _pem(self._certificate))
        try:
            context.load_cert_chain(chain)
        finally:
            chain.unlink()
        return context

    def _sign(self, host: str) -> x509.Certificate:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.x509.oid import ExtendedKeyUsageOID

        builder = _builder("Pinakes replay", self._certificate.subject, self._host_key)
        issuer = self._key.public_key()
        return (
            builder.add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=True)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer), critical=False
            )
            .sign(self._key, hashes.SHA256())
        )

    def close(self) -> None:
        """Remove the certificate's file; idempotent."""
        self._folder.cleanup()


def _general_name(host: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return x509.DNSName(host)


def _self_signed(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    public = key.public_key()
    return (
        _builder(_NAME, None, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )


def _builder(
    name: str, issuer: x509.Name | None, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer or subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FROM)
        .not_valid_after(_UNTIL)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return bytes(certificate.public_bytes(serialization.Encoding.PEM))
