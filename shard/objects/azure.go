package objects

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	azureVersion = "2022-11-02" // of the protocol that this package speaks
	mostListed   = "1000"       // blobs on a page of a list, as S3 has them
)

// Azure is a container of Azure's blob storage. It is safe for concurrent use.
type Azure struct{ *client }

// OpenAzure opens a container. It sends no request. The error is a SettingError.
func OpenAzure(p Place) (*Azure, error) {
	connection, err := p.client("")
	if err != nil {
		return nil, err
	}
	account, err := p.azureAccount()
	if err != nil {
		return nil, err
	}
	sign, err := p.azureSignature(account, connection)
	if err != nil {
		return nil, err
	}
	return &Azure{&client{http: connection, base: account.server + "/" + p.Bucket, sign: sign}}, nil
}

// Put writes a blob of size bytes. It is visible once it is complete.
func (a *Azure) Put(ctx context.Context, name string, file io.ReaderAt, size int64) error {
	if countParts(size) <= 1 {
		header := map[string]string{"Content-Type": "application/octet-stream", "X-Ms-Blob-Type": "BlockBlob"}
		_, err := a.call(ctx, request{method: http.MethodPut, name: name, header: header, body: io.NewSectionReader(file, 0, size)})
		return err
	}
	list := struct {
		XMLName xml.Name `xml:"BlockList"`
		Latest  []string
	}{Latest: make([]string, countParts(size))}
	own := rand.Text() // so that the blocks of concurrent uploads do not mix
	err := inParts(ctx, file, size, func(ctx context.Context, number int, part *io.SectionReader) error {
		list.Latest[number] = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s-%05d", own, number))
		query := url.Values{"comp": {"block"}, "blockid": {list.Latest[number]}}
		_, err := a.call(ctx, request{method: http.MethodPut, name: name, query: query, body: part})
		return err
	})
	if err != nil {
		return err // Azure removes the blocks after a week
	}
	text, err := xml.Marshal(list)
	if err != nil {
		return err
	}
	_, err = a.call(ctx, request{method: http.MethodPut, name: name, query: url.Values{"comp": {"blocklist"}},
		header: map[string]string{"X-Ms-Blob-Content-Type": "application/octet-stream"}, body: textBody(text)})
	return err
}

// List returns the names of some blobs that begin with prefix, and where to continue; "": there are no more.
func (a *Azure) List(ctx context.Context, prefix, from string) (names []string, next string, err error) {
	query := url.Values{"restype": {"container"}, "comp": {"list"}, "prefix": {prefix}, "maxresults": {mostListed}}
	if from != "" {
		query.Set("marker", from)
	}
	got, err := a.call(ctx, request{method: http.MethodGet, query: query})
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Names      []string `xml:"Blobs>Blob>Name"`
		NextMarker string
	}
	if err := got.decode(&page); err != nil {
		return nil, "", err
	}
	return page.Names, strings.TrimSpace(page.NextMarker), nil
}
