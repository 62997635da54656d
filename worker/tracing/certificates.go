package tracing

import (
	"crypto/tls"
	"crypto/x509"
	"os"
)

// readCertificates returns which authorities may name the collector, and the certificate of this process; nil if
// the environment names neither.
func readCertificates(scheme string) (*tls.Config, error) {
	name, trusted := first(ofExporter("CERTIFICATE"))
	ownName, own := first(ofExporter("CLIENT_CERTIFICATE"))
	keyName, key := first(ofExporter("CLIENT_KEY"))
	switch {
	case trusted == "" && own == "" && key == "":
		return nil, nil
	case own == "" && key != "":
		return nil, invalid(ownName, "is not set: it is the certificate of the key that %s names", keyName)
	case own != "" && key == "":
		return nil, invalid(keyName, "is not set: it is the key of the certificate that %s names", ownName)
	case trusted == "":
		name = ownName
	}
	if scheme == "http" {
		return nil, invalid(name, "is for a collector with an address of https://, not http://")
	}
	c := &tls.Config{}
	if trusted != "" {
		text, err := os.ReadFile(trusted)
		c.RootCAs = x509.NewCertPool()
		if err != nil || !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, invalid(name, "is not a readable file with certificates in PEM").Because(err)
		}
	}
	if own != "" {
		pair, err := tls.LoadX509KeyPair(own, key)
		if err != nil {
			return nil, invalid(ownName, "and %s are not the files of a certificate and of its key in PEM", keyName).Because(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
